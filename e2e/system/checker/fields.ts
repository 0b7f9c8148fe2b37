/**
 * Checks the field `_notices`. Some clients show a model only the `structuredContent` of a result. For these clients, the
 * structured content repeats the frame as `_notices`, and the tool's schema declares that field. Other clients show the blocks,
 * and get no such field.
 */

/**
 * The clients of the system test that show the blocks of a result, as measured with the real programs. The test's other clients
 * get the frame in both places.
 */
const SHOWS_BLOCKS: ReadonlySet<string> = new Set(['qwen-code', 'opencode', 'gemini-cli-mcp-client']);
const NOTICES = '_notices';

type Result = { readonly result?: { readonly structuredContent?: unknown } };
type List = {
  readonly result?: {
    readonly tools?: readonly { readonly name: string; readonly outputSchema?: { readonly properties?: object } }[];
  };
};

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Returns the problem with `_notices` in a result. `frame` is the frame in the blocks of the result, if there is one. */
export function wrongFields(line: string, client: string, frame: string | undefined): string | undefined {
  const structured = (JSON.parse(line) as Result).result?.structuredContent;
  if (!isObject(structured)) return undefined;
  const notices = (structured as Record<string, unknown>)[NOTICES];
  if (SHOWS_BLOCKS.has(client) || frame === undefined)
    return notices === undefined ? undefined : `has ${NOTICES}, which its client has no use for`;
  return notices === frame ? undefined : `has no ${NOTICES} beside its structured content`;
}

/** Returns the problems with `_notices` in the schemas of tools/list. */
export function wrongSchemas(line: string, client: string): string[] {
  const tools = (JSON.parse(line) as List).result?.tools ?? [];
  return tools.flatMap(({ name, outputSchema }) => {
    if (outputSchema === undefined) return [];
    const declares = Object.hasOwn(outputSchema.properties ?? {}, NOTICES);
    if (declares === !SHOWS_BLOCKS.has(client)) return [];
    return [`the schema of ${name} ${declares ? 'has' : 'does not declare'} ${NOTICES}`];
  });
}
