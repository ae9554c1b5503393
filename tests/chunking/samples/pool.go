// Package pool hands out connections.
package pool

import (
	"errors"
	"sync"
)

const (
	maxOpen = 16
	maxIdle = 4
)

// ErrClosed is returned after Close.
var ErrClosed = errors.New("pool: closed")

// Pool keeps connections that are not in use.
type Pool[T any] struct {
	mu   sync.Mutex
	idle []T
}

type (
	// Dialer opens a connection.
	Dialer interface {
		Dial(address string) error
	}
	state struct {
		open bool
	}
)

// New returns an empty pool.
func New[T any]() *Pool[T] {
	return &Pool[T]{}
}

// Get takes a connection out of the pool.
func (p *Pool[T]) Get() (T, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var none T
	if len(p.idle) == 0 {
		return none, ErrClosed
	}
	last := p.idle[len(p.idle)-1]
	p.idle = p.idle[:len(p.idle)-1]
	return last, nil
}

func (s state) String() string {
	return "state"
}
