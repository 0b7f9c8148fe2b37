/** Defines the pattern of the file in a place such as `src/cart.ts:3:7`. */
export const FILE = String.raw`(?<file>[^\s():]+)`;
