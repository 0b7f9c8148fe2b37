export { last } from './types.ts';
export type Middle = { readonly name: string };
