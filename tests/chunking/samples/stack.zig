const std = @import("std");

/// Grows as needed.
pub const Stack = struct {
    items: []u8,
    len: usize = 0,

    pub const Error = error{Empty};

    /// Takes the last one.
    pub fn pop(self: *Stack) Error!u8 {
        if (self.len == 0) return error.Empty;
        self.len -= 1;
        return self.items[self.len];
    }

    fn grow(self: *Stack) void {
        self.len += 1;
    }
};

pub const Mode = enum { read, write };

pub fn List(comptime T: type) type {
    return struct {
        head: ?*T = null,
    };
}

fn double(x: u32) u32 {
    return x * 2;
}

test "a stack gives back what it was given last, and says so when nothing is left in it any more" {
    var bytes = [_]u8{ 1, 2, 3 };
    var stack = Stack{ .items = &bytes, .len = 3 };
    try std.testing.expectEqual(@as(u8, 3), try stack.pop());
    try std.testing.expectEqual(@as(u8, 2), try stack.pop());
}
