/* A ring buffer of bytes. */
#include <stdlib.h>
#include <string.h>

#define RING_MAX 4096
#define RING_MASK(n) ((n) & (RING_MAX - 1))

struct ring {
    unsigned head;
    unsigned tail;
    unsigned char bytes[RING_MAX];
};

typedef enum { RING_OK, RING_FULL } ring_status;

typedef struct {
    int fd;
    struct ring in;
} channel_t;

static int ring_count(const struct ring *r);

/* Puts one byte in; tells when there is no room. */
ring_status ring_put(struct ring *r, unsigned char byte)
{
    if (ring_count(r) == RING_MAX - 1)
        return RING_FULL;
    r->bytes[RING_MASK(r->head++)] = byte;
    return RING_OK;
}

#ifdef RING_DEBUG
static char *ring_dump(const struct ring *r)
{
    char *text = malloc(RING_MAX);
    memcpy(text, r->bytes, RING_MAX);
    return text;
}
#endif

#ifdef __cplusplus
extern "C" {
#endif
static int ring_count(const struct ring *r)
{
    return (int) RING_MASK(r->head - r->tail);
}
#ifdef __cplusplus
}
#endif
