import { EventEmitter } from "node:events";

export type Method = "GET" | "POST";

/** What a request needs. */
export interface RequestOptions {
  method: Method;
  url: string;
  retry?: number;
}

export enum State {
  Idle,
  Busy,
}

export abstract class Transport<T> extends EventEmitter {
  private queue: RequestOptions[] = [];
  protected readonly onError = (error: Error): void => {
    this.emit("error", error);
  };

  constructor(readonly name: string) {
    super();
  }

  @logged()
  async send(options: RequestOptions): Promise<T> {
    this.queue.push(options);
    return this.perform(options);
  }

  protected abstract perform(options: RequestOptions): Promise<T>;
}

export namespace Codec {
  export function encode(value: unknown): string {
    return JSON.stringify(value);
  }
}

export function parse(text: string): unknown;
export function parse(text: string, strict: boolean): unknown;
export function parse(text: string, strict = false): unknown {
  return strict ? JSON.parse(text) : {};
}

export const isIdle = (state: State): boolean => state === State.Idle;

declare module "legacy" {
  export function old(): void;
}

export default function start(): void {
  parse("{}");
}
