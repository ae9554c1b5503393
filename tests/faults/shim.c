/* Preloaded into a process: lets calls on files of an index fail, fall short, or be its last.

   Disarmed until `shim_arm` is called. Only paths that hold "gitmem" and descriptors opened by such a path count. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { OFF, KILL, TORN, ERROR_ONCE, ERROR_FROM_THEN_ON, SHORT, INTERRUPT, READ_ERROR };

#define DESCRIPTORS 4096
static unsigned char watched[DESCRIPTORS];
static int mode, number, error, changes, reads, interrupts;

void shim_arm(int mode_, int number_, int error_) {
  mode = mode_;
  number = number_;
  error = error_;
  changes = reads = interrupts = 0;
}

int shim_changes(void) { return changes; }
int shim_reads(void) { return reads; }

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int ours(const char *path) { return path != NULL && strstr(path, "gitmem") != NULL; }
static int is_watched(int fd) { return fd >= 0 && fd < DESCRIPTORS && watched[fd]; }
static int watch(int fd, const char *path) {
  if (fd >= 0 && fd < DESCRIPTORS) watched[fd] = ours(path);
  return fd;
}

/* Counts a call that changes something; returns whether it shall fail, with errno set. */
static int change_fails(void) {
  ++changes;
  if (mode == KILL && changes == number) kill(getpid(), SIGKILL);
  if ((mode == ERROR_ONCE && changes == number) || (mode == ERROR_FROM_THEN_ON && changes >= number)) {
    errno = error;
    return 1;
  }
  return 0;
}

/* Every call from the wanted one on is interrupted twice before it goes through. */
static int is_interrupted(int count) {
  if (mode != INTERRUPT || count < number || ++interrupts % 3 == 0) return 0;
  errno = EINTR;
  return 1;
}

static int read_fails(void) {
  ++reads;
  if (mode == READ_ERROR && reads == number) {
    errno = error;
    return 1;
  }
  return is_interrupted(reads);
}

#define OPEN(name, at_parameter, at_argument)                                              \
  int name(at_parameter const char *path, int flags, ...) {                                \
    mode_t permissions = 0;                                                                \
    if (flags & (O_CREAT | O_TMPFILE)) {                                                   \
      va_list rest;                                                                        \
      va_start(rest, flags);                                                               \
      permissions = va_arg(rest, mode_t);                                                  \
      va_end(rest);                                                                        \
    }                                                                                      \
    if (ours(path) && ((flags & O_CREAT) ? change_fails() : read_fails())) return -1;      \
    return watch(REAL(name)(at_argument path, flags, permissions), path);                  \
  }
#define AT_PARAMETER int folder,
#define AT_ARGUMENT folder,
OPEN(open, , )
OPEN(open64, , )
OPEN(openat, AT_PARAMETER, AT_ARGUMENT)
OPEN(openat64, AT_PARAMETER, AT_ARGUMENT)

int close(int fd) {
  if (fd >= 0 && fd < DESCRIPTORS) watched[fd] = 0;
  return REAL(close)(fd);
}

ssize_t write(int fd, const void *data, size_t length) {
  if (!is_watched(fd)) return REAL(write)(fd, data, length);
  if (mode == TORN && changes + 1 == number) {
    REAL(write)(fd, data, length / 2);
    kill(getpid(), SIGKILL);
  }
  if (change_fails() || is_interrupted(changes)) return -1;
  return REAL(write)(fd, data, mode == SHORT && changes >= number && length > 1 ? length / 2 : length);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  if (is_watched(fd) && change_fails()) return -1;
  return REAL(writev)(fd, parts, count);
}

ssize_t read(int fd, void *data, size_t length) {
  if (is_watched(fd) && read_fails()) return -1;
  return REAL(read)(fd, data, is_watched(fd) && mode == SHORT && length > 1 ? length / 2 : length);
}

void *mmap(void *place, size_t length, int protection, int flags, int fd, off_t offset) {
  if (is_watched(fd) && ++reads == number && mode == READ_ERROR) {
    errno = error;
    return MAP_FAILED;
  }
  return REAL(mmap)(place, length, protection, flags, fd, offset);
}

void *mmap64(void *place, size_t length, int protection, int flags, int fd, off64_t offset) {
  if (is_watched(fd) && ++reads == number && mode == READ_ERROR) {
    errno = error;
    return MAP_FAILED;
  }
  return REAL(mmap64)(place, length, protection, flags, fd, offset);
}

int fsync(int fd) { return is_watched(fd) && change_fails() ? -1 : REAL(fsync)(fd); }
int rename(const char *old, const char *new) { return ours(new) && change_fails() ? -1 : REAL(rename)(old, new); }
int link(const char *old, const char *new) { return ours(new) && change_fails() ? -1 : REAL(link)(old, new); }
int linkat(int a, const char *old, int b, const char *new, int flags) {
  return ours(new) && change_fails() ? -1 : REAL(linkat)(a, old, b, new, flags);
}
int unlink(const char *path) { return ours(path) && change_fails() ? -1 : REAL(unlink)(path); }
int mkdir(const char *path, mode_t permissions) {
  return ours(path) && change_fails() ? -1 : REAL(mkdir)(path, permissions);
}
