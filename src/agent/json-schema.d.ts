/**
 * Declares the types that `tsdown.config.ts` uses in place of the package `json-schema`, which is not installed. The types accept
 * a schema of any type.
 */
// oxlint-disable-next-line typescript/no-explicit-any -- an interface is assignable only to an index signature of this type
export type JSONSchema7 = { [keyword: string]: any };
export type JSONSchema7Definition = JSONSchema7 | boolean;
