import { namingTool } from '../../core/needed-tool.ts';
import type { Success } from '../../mcp/frames/frame.ts';
import {
  addElements,
  addMember,
  arrayAt,
  edited,
  isObject,
  member,
  objectAt,
  removeMembers,
  stringAt,
  type ArrayAt,
  type Edit,
  type ObjectAt,
  type Range,
} from '../../mcp/frames/json.ts';
import type { Profile } from './profiles.ts';
import { NOTICES, type Treatment } from './results.ts';
import type { OwnTool } from './rider.ts';

/** Whether a tool has an outputSchema, and whether that schema allows one more property. */
export type SchemaKind = 'none' | 'open' | 'closed';

export type ListedTool = {
  readonly name: string;
  readonly at: Range;
  readonly nameAt: Range;
  readonly object: ObjectAt;
  readonly schema?: ObjectAt;
  readonly kind: SchemaKind;
};

/** A tools/list result. `cursor` is the start of the next page. The last page has no cursor. */
export type ToolsPage = {
  readonly frame: Success;
  readonly list: ArrayAt;
  readonly tools: readonly ListedTool[];
  readonly cursor?: string;
};

const NOTICES_SCHEMA = JSON.stringify({
  type: 'string',
  description: 'Notifications for you that came while you worked; not part of the tool result.',
});

/** Schema keywords that could forbid one more property, or could give it another meaning. */
const CLOSING_KEYWORDS = [
  '$ref',
  '$dynamicRef',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'enum',
  'const',
  'maxProperties',
  'patternProperties',
  'propertyNames',
  'dependentSchemas',
];

/** Returns the tools of a result, without invalid entries. Undefined if the result does not list tools. */
export function toolsIn(frame: Success): ToolsPage | undefined {
  const json = frame.bytes;
  const object = objectAt(json, frame.result.start);
  const listAt = object && member(json, object, 'tools');
  const list = listAt && arrayAt(json, listAt.start);
  if (object === undefined || list === undefined) return undefined;
  const cursor = stringAt(json, member(json, object, 'nextCursor'));
  const tools = list.elements.flatMap((at) => toolAt(json, at) ?? []);
  return { frame, list, tools, ...(cursor !== undefined && { cursor }) };
}

/** Returns the edits that adapt a page to the profile. */
export function profileEdits({ frame: { bytes }, tools }: ToolsPage, profile: Profile): Edit[] {
  return tools.flatMap((tool) => {
    const treatment = treatmentOf(profile, tool.kind);
    if (tool.kind === 'none' || treatment === 'leave') return [];
    if (treatment === 'remove' || tool.schema === undefined) return removeMembers(bytes, tool.object, 'outputSchema');
    return [declareNotices(bytes, tool.schema)];
  });
}

export function ownToolEdits({ list }: ToolsPage, own: readonly OwnTool[], names: OwnNames): Edit[] {
  return own.length === 0
    ? []
    : [
        addElements(
          list,
          own.map((tool) => JSON.stringify(names.listed(tool))),
        ),
      ];
}

export function editedPage(page: ToolsPage, edits: readonly Edit[]): Buffer {
  return edited(page.frame.bytes, edits);
}

/**
 * Returns how the profile treats a tool's results. For a tool that was never listed, the client has no schema that could reject
 * an added property.
 */
export function treatmentOf(profile: Profile, schema: SchemaKind | undefined): Treatment {
  switch (profile.kind) {
    case 'blocks':
      return 'leave';
    case 'strip':
      return 'remove';
    case 'extend':
      return schema === 'closed' ? 'remove' : 'extend';
    default:
      return profile.kind satisfies never;
  }
}

/**
 * Collects the known tools of an upstream from every tools/list of a client or of the gateway itself. The catalog only grows, so
 * that names do not change.
 */
export class Catalog {
  readonly #kinds = new Map<string, SchemaKind>();
  #complete = false;

  /** Whether the last page of a list has passed. If so, the catalog has all tools of the upstream. */
  get complete(): boolean {
    return this.#complete;
  }

  add(page: ToolsPage): void {
    for (const tool of page.tools) this.#kinds.set(tool.name, tool.kind);
    if (page.cursor === undefined) this.#complete = true;
  }

  has(name: string): boolean {
    return this.#kinds.has(name);
  }

  schemaOf(name: string): SchemaKind | undefined {
    return this.#kinds.get(name);
  }
}

/**
 * Names the gateway's own tools for a client. A tool is called `earpiece_<name>` if the upstream has a tool with the same name.
 */
export class OwnNames {
  readonly #given = new Map<string, string>();
  readonly #own = new Map<string, string>();

  constructor(own: readonly OwnTool[], taken: { has(name: string): boolean }) {
    for (const { name } of own) {
      let given = name;
      while (taken.has(given) || this.#own.has(given)) given = `earpiece_${given}`;
      this.#given.set(name, given);
      this.#own.set(given, name);
    }
  }

  given(own: string): string {
    return this.#given.get(own) ?? own;
  }

  /** Returns the tool for the client's list, with the client's names for this tool and for the tools in its texts. */
  listed(tool: OwnTool): OwnTool {
    const { name, description } = tool;
    if (typeof description !== 'string') return { ...tool, name: this.given(name) };
    const renamed = [...this.#given].reduce((text, [own, given]) => namingTool(text, own, given), description);
    return { ...tool, name: this.given(name), description: renamed };
  }

  /**
   * Returns the gateway's name of the own tool that the client knows by this name. Undefined if this name belongs to no own tool.
   */
  meant(name: string): string | undefined {
    return this.#own.get(name);
  }
}

function toolAt(json: Buffer, at: Range): ListedTool | undefined {
  const object = objectAt(json, at.start);
  const nameAt = object && member(json, object, 'name');
  const name = nameAt && stringAt(json, nameAt);
  if (object === undefined || nameAt === undefined || name === undefined) return undefined;
  const schemaAt = member(json, object, 'outputSchema');
  const schema = schemaAt && objectAt(json, schemaAt.start);
  const kind: SchemaKind = schemaAt === undefined ? 'none' : schema && takesProperty(json, schema) ? 'open' : 'closed';
  return { name, at, nameAt, object, ...(schema && { schema }), kind };
}

function takesProperty(json: Buffer, schema: ObjectAt): boolean {
  const type = member(json, schema, 'type');
  if (type === undefined || stringAt(json, type) !== 'object') return false;
  if (CLOSING_KEYWORDS.some((keyword) => member(json, schema, keyword) !== undefined)) return false;
  const properties = member(json, schema, 'properties');
  if (properties === undefined) return true;
  const object = isObject(json, properties) ? objectAt(json, properties.start) : undefined;
  return object !== undefined && member(json, object, NOTICES) === undefined;
}

function declareNotices(json: Buffer, schema: ObjectAt): Edit {
  const properties = member(json, schema, 'properties');
  const object = properties && objectAt(json, properties.start);
  return object
    ? addMember(object, NOTICES, NOTICES_SCHEMA)
    : addMember(schema, 'properties', `{"${NOTICES}":${NOTICES_SCHEMA}}`);
}
