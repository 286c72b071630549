/** A value that is only read. */
export interface Source<out A, in out B = never> {
  readonly take: (b: B) => A
}

export type Sink<in A> = (a: A) => void

export class Cell<in out T extends object> {
  get(): T {
    return this.value
  }
}

/** Two ways to call it. */
export const map: {
  /** Data last. */
  <A, B>(f: (a: A) => B): (self: Source<A>) => Source<B>
  // data first
  <
    A,
    B
  >(self: Source<A>, f: (a: A) => B): Source<B>
} = function(arity, body) {
  switch (arity) {
    case 2:
      return function(a, b) {
        return body(a, b)
      }
    default:
      return `${arity} < ${body}`
  }
}

export const less = (a: number, b: number): boolean =>
  a
    < b

export function after<A>(a: A): A {
  return a
}
