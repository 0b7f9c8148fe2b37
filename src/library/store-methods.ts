/** Lists the methods that every store has, so that `openEarpiece` can refuse a store that lacks one of them. */
import type { Store } from '../core/ports.ts';

type MethodOf<T> = keyof { [K in keyof T as T[K] extends (...args: never[]) => unknown ? K : never]: T[K] };

export const STORE_METHODS = Object.keys({
  now: true,
  ordered: true,
  append: true,
  read: true,
  head: true,
  items: true,
  countOpen: true,
  overview: true,
  agents: true,
  changed: true,
  touch: true,
  presence: true,
  bind: true,
  binding: true,
  withhold: true,
  withheld: true,
  prune: true,
  forget: true,
  erase: true,
  setting: true,
  setSetting: true,
  swapSetting: true,
  secret: true,
  verify: true,
  close: true,
} satisfies Record<MethodOf<Store>, true>);
