/**
 * `tsdown.config.ts` uses this in place of the package `json-schema`, which has no types here. Any schema type of a user fits.
 */
// oxlint-disable-next-line typescript/no-explicit-any -- an interface is assignable to an index signature of this type alone
export type JSONSchema7 = { [keyword: string]: any };
export type JSONSchema7Definition = JSONSchema7 | boolean;
