/** Joins the lists of several servers, and finds the server of a resource. */
import { setTimeout as sleep } from 'node:timers/promises';

import type { Request } from '../../mcp/frames/frame.ts';
import { arrayAt, edited, member, objectAt, stringAt, textOf, valueAt } from '../../mcp/frames/json.ts';
import type { Peer } from '../peer.ts';

/**
 * For each method: the capability that it needs, the member of the result that contains the list, and the member that identifies
 * an entry.
 */
export const LISTS = {
  'tools/list': { capability: 'tools', list: 'tools', known: 'name' },
  'prompts/list': { capability: 'prompts', list: 'prompts', known: 'name' },
  'resources/list': { capability: 'resources', list: 'resources', known: 'uri' },
  'resources/templates/list': { capability: 'resources', list: 'resourceTemplates', known: 'uriTemplate' },
} as const;

export type ListMethod = keyof typeof LISTS;

type Entry = { readonly name: string; readonly text: string };

export type ListsOptions = {
  readonly peers: readonly Peer[];
  readonly separator: string;
  readonly listMs: number;
  readonly report: (line: string) => void;
  /** The envelope for a request to a stateless server. */
  readonly envelope: (like: Request) => object;
  /** Gets each server that answers too late, after its entries were left out of a list. */
  readonly changed: (peer: Peer, capability: string) => void;
};

export class Lists {
  readonly #options: ListsOptions;
  readonly #owners = new Map<string, Peer>();
  readonly #templates = new Map<string, Peer>();
  /** Answers that came too late for their list. The next list uses these answers. */
  readonly #late = new Map<string, readonly Entry[]>();

  constructor(options: ListsOptions) {
    this.#options = options;
  }

  /** Returns the entries of the ready servers that answer in time, as JSON text. */
  async all(frame: Request, method: ListMethod): Promise<string[]> {
    const { capability, list } = LISTS[method];
    const peers = this.#options.peers.filter((peer) => peer.ready && peer.can(capability));
    const lists = await Promise.all(peers.map((peer) => this.#inTime(peer, frame, method)));
    const entries: string[] = [];
    const seen = new Map<string, string>();
    for (const [index, peer] of peers.entries()) {
      for (const { name, text } of lists[index]!) {
        const other = seen.get(name);
        if (other !== undefined) {
          this.#options.report(
            `${list}: "${name}" of "${peer.name}" is left out, because "${other}" has an entry with the same name; rename one of the servers`,
          );
          continue;
        }
        seen.set(name, peer.name);
        entries.push(text);
      }
    }
    return entries;
  }

  /** Returns the server whose lists have this resource, or have a template that matches the URI. */
  known(uri: string): Peer | undefined {
    return (
      this.#owners.get(uri) ?? this.#templates.get(uri) ?? [...this.#templates].find(([template]) => fits(template, uri))?.[1]
    );
  }

  listed(uri: string): Peer | undefined {
    return this.#owners.get(uri);
  }

  /**
   * Returns the server of a resource. If no list has the resource yet, returns the only server with resources, or asks several
   * servers for their lists.
   */
  async ownerOf(uri: string, like: Request): Promise<Peer | undefined> {
    const found = this.known(uri);
    if (found) return found;
    const peers = this.#options.peers.filter((peer) => peer.ready && peer.can('resources'));
    if (peers.length <= 1) return peers[0];
    for (const method of ['resources/list', 'resources/templates/list'] as const)
      await Promise.all(peers.map((peer) => this.#inTime(peer, like, method)));
    return this.known(uri);
  }

  async #inTime(peer: Peer, like: Request, method: ListMethod): Promise<readonly Entry[]> {
    const key = `${method} ${peer.name}`;
    const late = this.#late.get(key);
    if (this.#late.delete(key) && late) return late;
    const { listMs, report } = this.#options;
    const timeout = new AbortController();
    const asked = this.#entriesOf(peer, like, method);
    const tooLong = sleep(listMs, undefined, { signal: timeout.signal }).catch(() => undefined);
    const entries = await Promise.race([asked, tooLong]);
    timeout.abort();
    if (entries) return entries;
    report(
      `${method} of "${peer.name}" is left out: no answer within ${listMs / 1000} s; the entries are added when they arrive`,
    );
    void asked.then((came) => {
      if (came.length === 0) return;
      this.#late.set(key, came);
      this.#options.changed(peer, LISTS[method].capability);
    });
    return [];
  }

  /** Returns all pages of one server's list, each entry as JSON text with the client's name for the entry. */
  async #entriesOf(peer: Peer, like: Request, method: ListMethod): Promise<Entry[]> {
    const { list, known } = LISTS[method];
    const entries: Entry[] = [];
    let cursor: string | undefined;
    do {
      const params = {
        ...(cursor !== undefined && { cursor }),
        ...(peer.generation === 'stateless' && { _meta: this.#options.envelope(like) }),
      };
      const answer = await peer.ask(method, params);
      if (answer?.kind !== 'success') {
        const why = answer ? textOf(answer.bytes, answer.error) : 'the server does not answer';
        this.#options.report(`${method} of "${peer.name}" is left out: ${why}`);
        return entries;
      }
      const { bytes, result } = answer;
      const at = valueAt(bytes, result.start, [list]);
      for (const range of (at && arrayAt(bytes, at.start)?.elements) ?? []) {
        const object = objectAt(bytes, range.start);
        const knownAt = object && member(bytes, object, known);
        const name = stringAt(bytes, knownAt);
        if (knownAt === undefined || name === undefined) continue;
        const text = bytes.subarray(range.start, range.end);
        if (known !== 'name') {
          const owners = known === 'uri' ? this.#owners : this.#templates;
          if (!owners.has(name)) owners.set(name, peer);
          entries.push({ name, text: text.toString() });
          continue;
        }
        const given = `${peer.name}${this.#options.separator}${name}`;
        const place = { start: knownAt.start - range.start, end: knownAt.end - range.start };
        entries.push({ name: given, text: edited(text, [{ at: place, put: JSON.stringify(given) }]).toString() });
      }
      cursor = stringAt(bytes, valueAt(bytes, result.start, ['nextCursor']));
    } while (cursor !== undefined);
    return entries;
  }
}

/** Whether a URI contains the fixed parts of a URI template in their order. */
function fits(template: string, uri: string): boolean {
  const [first = '', ...rest] = template.split(/\{[^}]*\}/);
  if (!uri.startsWith(first)) return false;
  const last = rest.pop();
  if (last === undefined) return uri === first;
  let at = first.length;
  for (const part of rest) {
    const found = uri.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return uri.length - last.length >= at && uri.endsWith(last);
}
