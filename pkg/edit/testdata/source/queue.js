'use strict';

const DEFAULT_LIMIT = 4;

class Task {
  constructor(name, run, priority = 0) {
    this.name = name;
    this.run = run;
    this.priority = priority;
    this.tries = 0;
    this.started = null;
  }

  get waiting() {
    return this.started === null;
  }

  async start(signal) {
    this.started = Date.now();
    this.tries += 1;
    try {
      return await this.run(signal);
    } finally {
      this.elapsed = Date.now() - this.started;
    }
  }
}

class Queue {
  constructor(options = {}) {
    this.limit = options.limit || DEFAULT_LIMIT;
    this.retries = options.retries ?? 2;
    this.running = new Set();
    this.waiting = [];
    this.listeners = new Map();
    this.closed = false;
  }

  on(event, listener) {
    if (!this.listeners.has(event)) {
      this.listeners.set(event, []);
    }
    this.listeners.get(event).push(listener);
    return () => {
      const list = this.listeners.get(event);
      const at = list.indexOf(listener);
      if (at >= 0) {
        list.splice(at, 1);
      }
    };
  }

  emit(event, ...args) {
    for (const listener of this.listeners.get(event) || []) {
      listener(...args);
    }
  }

  add(task) {
    if (this.closed) {
      throw new Error('the queue is closed');
    }
    const before = this.waiting.findIndex((other) => other.priority < task.priority);
    if (before < 0) {
      this.waiting.push(task);
    } else {
      this.waiting.splice(before, 0, task);
    }
    this.emit('added', task);
    this.fill();
  }

  fill() {
    while (this.running.size < this.limit && this.waiting.length > 0) {
      const task = this.waiting.shift();
      this.running.add(task);
      this.execute(task);
    }
  }

  async execute(task) {
    const controller = new AbortController();
    try {
      const result = await task.start(controller.signal);
      this.emit('done', task, result);
    } catch (error) {
      if (task.tries <= this.retries) {
        this.waiting.push(task);
        this.emit('again', task, error);
      } else {
        this.emit('failed', task, error);
      }
    } finally {
      this.running.delete(task);
      this.fill();
      if (this.running.size === 0 && this.waiting.length === 0) {
        this.emit('idle');
      }
    }
  }

  cancel(name) {
    const kept = this.waiting.filter((task) => task.name !== name);
    const gone = this.waiting.length - kept.length;
    this.waiting = kept;
    if (gone > 0) {
      this.emit('cancelled', name, gone);
    }
    return gone;
  }

  close() {
    this.closed = true;
    return new Promise((resolve) => {
      if (this.running.size === 0) {
        resolve();
        return;
      }
      const stop = this.on('idle', () => {
        stop();
        resolve();
      });
    });
  }
}

function delay(ms, value) {
  return new Promise((resolve) => {
    setTimeout(() => resolve(value), ms);
  });
}

function summary(queue) {
  return {
    running: [...queue.running].map((task) => task.name),
    waiting: queue.waiting.map((task) => task.name),
    closed: queue.closed,
  };
}

module.exports = { Queue, Task, delay, summary };
