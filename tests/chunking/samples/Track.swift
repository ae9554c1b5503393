import Foundation

public protocol Playable {
    var length: Double { get }
    func play(from start: Double) throws
}

/// One piece of music.
public struct Track: Playable {
    public let title: String
    public var length: Double

    public init(title: String, length: Double) {
        self.title = title
        self.length = length
    }

    public func play(from start: Double) throws {
        guard start < length else { throw PlayError.pastEnd }
    }

    public subscript(second: Int) -> Double {
        return Double(second) / length
    }
}

public enum PlayError: Error {
    case pastEnd
    case missing(String)
}

extension Track: CustomStringConvertible {
    public var description: String {
        return "\(title) (\(Int(length)) s)"
    }

    func shortened(by seconds: Double) -> Track {
        return Track(title: title, length: length - seconds)
    }
}

final class Player {
    private var queue: [Track] = []

    deinit {
        queue.removeAll()
    }

    func enqueue(_ track: Track) {
        queue.append(track)
    }
}

typealias Playlist = [Track]

func shuffle(_ list: Playlist) -> Playlist {
    return list.shuffled()
}
