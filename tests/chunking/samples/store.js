'use strict';

const fs = require('fs');
const path = require('path');

const LIMIT = 50;

/**
 * Keeps values by key, the oldest is dropped first.
 */
class Store {
  static empty = () => new Store(0);

  #size = 0;

  constructor(limit) {
    this.limit = limit;
    this.items = new Map();
  }

  // Overwrites an older value.
  put(key, value) {
    this.items.set(key, value);
    this.#size += 1;
  }

  get size() {
    return this.#size;
  }
}

const readAll = async (folder) => {
  const names = await fs.promises.readdir(folder);
  return names.map((name) => path.join(folder, name));
};

exports.open = function open(file) {
  return fs.readFileSync(file, 'utf8');
};

Store.prototype.clear = function () {
  this.items.clear();
};

const handlers = {
  onOpen(event) {
    return event.target;
  },
  onClose: function (event) {
    return event.reason;
  },
  retries: 3,
};

function* counter(from) {
  while (true) {
    yield from++;
  }
}

module.exports = {
  Store,
  readAll,
  limit() {
    return LIMIT;
  },
  handlers,
  counter,
};
