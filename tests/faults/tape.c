/* Preloaded into a process and the git that it starts: counts the calls that change files below one folder, takes them
   down, lets one fail or fall short, or kills the process group before it.

   TAPE_ROOT is the folder, TAPE_CONTROL a file that all processes map, TAPE_LOG where calls are taken down. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { OFF, COUNT, RECORD, KILL, TORN, ERROR_ONCE, ERROR_FROM_THEN_ON, SHORT };
enum { CREATE, WRITE, SYNC, SYNC_FOLDER, RENAME, LINK, UNLINK, MAKE_FOLDER, REMOVE_FOLDER, TRUNCATE };

struct control {
  int32_t mode, error;
  int64_t number, count;
};

static struct control *control;
static const char *root;
static size_t root_length;
static int log_file = -1;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void start(void) {
  const char *file = getenv("TAPE_CONTROL"), *log_name = getenv("TAPE_LOG");
  root = getenv("TAPE_ROOT");
  if (!file || !root || !log_name) return;
  root_length = strlen(root);
  int handle = REAL(open)(file, O_RDWR | O_CLOEXEC);
  if (handle < 0) return;
  void *place = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, handle, 0);
  REAL(close)(handle);
  if (place == MAP_FAILED) return;
  log_file = REAL(open)(log_name, O_WRONLY | O_APPEND | O_CLOEXEC);
  control = place;
}

static int is_on(void) { return control != NULL && control->mode != OFF; }

/* The place of a path below the folder, NULL where it lies elsewhere. */
static const char *place_of(const char *path, char *buffer) {
  if (path == NULL) return NULL;
  if (path[0] != '/') {
    if (getcwd(buffer, PATH_MAX) == NULL || strlen(buffer) + strlen(path) + 2 > 2 * PATH_MAX) return NULL;
    strcat(strcat(buffer, "/"), path);
  } else {
    if (strlen(path) >= 2 * PATH_MAX) return NULL;
    strcpy(buffer, path);
  }
  if (strncmp(buffer, root, root_length) != 0 || (buffer[root_length] != '/' && buffer[root_length] != 0)) return NULL;
  return buffer[root_length] ? buffer + root_length + 1 : buffer + root_length;
}

/* The same of an open file or folder; a pipe has none. */
static const char *place_of_handle(int handle, char *buffer, int *is_folder) {
  struct stat found;
  char name[64];
  if (fstat(handle, &found) != 0 || !(S_ISREG(found.st_mode) || S_ISDIR(found.st_mode))) return NULL;
  if (is_folder) *is_folder = S_ISDIR(found.st_mode);
  snprintf(name, sizeof name, "/proc/self/fd/%d", handle);
  ssize_t length = readlink(name, buffer, 2 * PATH_MAX - 1);
  if (length <= 0) return NULL;
  buffer[length] = 0;
  if (strncmp(buffer, root, root_length) != 0 || (buffer[root_length] != '/' && buffer[root_length] != 0)) return NULL;
  return buffer[root_length] ? buffer + root_length + 1 : buffer + root_length;
}

/* Counts a call; returns whether it shall fail, with errno set. */
static int fails(void) {
  int64_t count = __atomic_add_fetch(&control->count, 1, __ATOMIC_SEQ_CST);
  int mode = control->mode;
  if (mode == KILL && count == control->number) {
    kill(0, SIGKILL);
    for (;;) pause();
  }
  if ((mode == ERROR_ONCE && count == control->number) || (mode == ERROR_FROM_THEN_ON && count >= control->number)) {
    errno = control->error;
    return 1;
  }
  return 0;
}

static void note(uint32_t kind, const char *path, const char *target, int64_t at, const void *data, size_t length) {
  if (control->mode != RECORD || log_file < 0) return;
  int before = errno;
  uint32_t head[4] = {kind, (uint32_t)strlen(path), target ? (uint32_t)strlen(target) : 0, (uint32_t)length};
  struct iovec parts[] = {{head, sizeof head},
                          {&at, sizeof at},
                          {(void *)path, head[1]},
                          {(void *)target, head[2]},
                          {(void *)data, length}};
  if (REAL(writev)(log_file, parts, 5) < 0) abort();
  errno = before;
}

#define OPEN(name, at_parameter, at_argument)                                              \
  int name(at_parameter const char *path, int flags, ...) {                                \
    mode_t permissions = 0;                                                                \
    char buffer[2 * PATH_MAX];                                                             \
    const char *place = NULL;                                                              \
    if (flags & (O_CREAT | O_TMPFILE)) {                                                   \
      va_list rest;                                                                        \
      va_start(rest, flags);                                                               \
      permissions = va_arg(rest, mode_t);                                                  \
      va_end(rest);                                                                        \
    }                                                                                      \
    struct stat found;                                                                     \
    int fresh = 0;                                                                         \
    if (is_on() && (flags & (O_CREAT | O_TRUNC)) && (place = place_of(path, buffer))) {    \
      fresh = stat(path, &found) != 0;                                                     \
      if ((fresh || (flags & O_TRUNC)) && fails()) return -1;                              \
    }                                                                                      \
    int handle = REAL(name)(at_argument path, flags, permissions);                         \
    if (place && handle >= 0 && fresh) note(CREATE, place, NULL, 0, NULL, 0);              \
    if (place && handle >= 0 && !fresh && (flags & O_TRUNC)) note(TRUNCATE, place, NULL, 0, NULL, 0); \
    return handle;                                                                         \
  }
#define AT_PARAMETER int folder,
#define AT_ARGUMENT folder,
OPEN(open, , )
OPEN(open64, , )
OPEN(openat, AT_PARAMETER, AT_ARGUMENT)
OPEN(openat64, AT_PARAMETER, AT_ARGUMENT)

ssize_t write(int handle, const void *data, size_t length) {
  char buffer[2 * PATH_MAX];
  const char *place = is_on() ? place_of_handle(handle, buffer, NULL) : NULL;
  if (place == NULL) return REAL(write)(handle, data, length);
  if (control->mode == TORN && control->count + 1 == control->number) {
    REAL(write)(handle, data, length / 2);
    kill(0, SIGKILL);
    for (;;) pause();
  }
  if (fails()) return -1;
  int64_t at = lseek(handle, 0, SEEK_CUR);
  if (control->mode == SHORT && control->count >= control->number && length > 1) length /= 2;
  ssize_t written = REAL(write)(handle, data, length);
  if (written > 0) note(WRITE, place, NULL, at, data, (size_t)written);
  return written;
}

#define PWRITE(name, offset_type)                                                          \
  ssize_t name(int handle, const void *data, size_t length, offset_type at) {              \
    char buffer[2 * PATH_MAX];                                                             \
    const char *place = is_on() ? place_of_handle(handle, buffer, NULL) : NULL;            \
    if (place && fails()) return -1;                                                       \
    ssize_t written = REAL(name)(handle, data, length, at);                                \
    if (place && written > 0) note(WRITE, place, NULL, at, data, (size_t)written);         \
    return written;                                                                        \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define SYNC_CALL(name)                                                                    \
  int name(int handle) {                                                                   \
    char buffer[2 * PATH_MAX];                                                             \
    int is_folder = 0;                                                                     \
    const char *place = is_on() ? place_of_handle(handle, buffer, &is_folder) : NULL;      \
    if (place && fails()) return -1;                                                       \
    int done = REAL(name)(handle);                                                         \
    if (place && done == 0) note(is_folder ? SYNC_FOLDER : SYNC, place, NULL, 0, NULL, 0); \
    return done;                                                                           \
  }
SYNC_CALL(fsync)
SYNC_CALL(fdatasync)

#define FTRUNCATE(name, offset_type)                                                       \
  int name(int handle, offset_type length) {                                               \
    char buffer[2 * PATH_MAX];                                                             \
    const char *place = is_on() ? place_of_handle(handle, buffer, NULL) : NULL;            \
    if (place && fails()) return -1;                                                       \
    int done = REAL(name)(handle, length);                                                 \
    if (place && done == 0) note(TRUNCATE, place, NULL, length, NULL, 0);                  \
    return done;                                                                           \
  }
FTRUNCATE(ftruncate, off_t)
FTRUNCATE(ftruncate64, off64_t)

/* A call on one path, or from one to another. */
#define CHANGE(name, kind, parameters, arguments, path)                                    \
  int name parameters {                                                                    \
    char buffer[2 * PATH_MAX];                                                             \
    const char *place = is_on() ? place_of(path, buffer) : NULL;                           \
    if (place && fails()) return -1;                                                       \
    int done = REAL(name) arguments;                                                       \
    if (place && done == 0) note(kind, place, NULL, 0, NULL, 0);                           \
    return done;                                                                           \
  }
CHANGE(unlink, UNLINK, (const char *path), (path), path)
CHANGE(mkdir, MAKE_FOLDER, (const char *path, mode_t permissions), (path, permissions), path)
CHANGE(rmdir, REMOVE_FOLDER, (const char *path), (path), path)

int unlinkat(int folder, const char *path, int flags) {
  if (folder == AT_FDCWD) return flags & AT_REMOVEDIR ? rmdir(path) : unlink(path);
  return REAL(unlinkat)(folder, path, flags);
}

#define MOVE(name, kind, parameters, arguments)                                            \
  int name parameters {                                                                    \
    char first[2 * PATH_MAX], second[2 * PATH_MAX];                                        \
    const char *source = is_on() ? place_of(old, first) : NULL;                            \
    const char *target = is_on() ? place_of(new, second) : NULL;                           \
    if (target && fails()) return -1;                                                      \
    int done = REAL(name) arguments;                                                       \
    if (source && target && done == 0) note(kind, source, target, 0, NULL, 0);             \
    return done;                                                                           \
  }
MOVE(rename, RENAME, (const char *old, const char *new), (old, new))
MOVE(link, LINK, (const char *old, const char *new), (old, new))
MOVE(linkat, LINK, (int a, const char *old, int b, const char *new, int flags), (a, old, b, new, flags))
