/**
 * The types that `tsdown.config.ts` uses in place of the package `json-schema`, which is not installed. They accept any schema
 * type of a user.
 */
// oxlint-disable-next-line typescript/no-explicit-any -- an interface is assignable to an index signature of this type alone
export type JSONSchema7 = { [keyword: string]: any };
export type JSONSchema7Definition = JSONSchema7 | boolean;
