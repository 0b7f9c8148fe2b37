/** The changes of `earpiece install` for an agent: the files, and the Earpiece entries in them. Each host has one table. */
import type { Edited } from '../../config/edit.ts';
import type { HookHost } from '../host.ts';
import type { Ours } from './ours.ts';

export type Scope = 'user' | 'project';

/** The home and the project whose settings are changed. */
export type Place = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** The project's root folder. */
  readonly project: string;
  readonly scope: Scope;
  /** The root of the machine's own settings. Tests set it. */
  readonly system: string;
};

/** One change of one file. Both functions leave all other bytes as they are, and neither throws. */
export type Part = {
  readonly file: string;
  /** The text that a person reads before they agree: `hooks at Stop`. */
  readonly what: string;
  /** Adds Earpiece's entries, which replace older ones of Earpiece. */
  add(text: string): Edited;
  /** Removes Earpiece's entries. `base`: the text before the first installation, in which empty tables stay. */
  remove(text: string, base?: string): Edited;
  /** An Earpiece file that only its user may read. */
  readonly isPrivate?: true;
  /** For the MCP server: whether the text contains Earpiece's server. */
  readonly hasServer?: (text: string) => boolean;
};

/** Why an agent runs no hooks at all, and what a person can do about it. */
export type Disabled = { readonly why: string; readonly advice: string };

/** An Earpiece hook in a settings file. Without a command, the host calls the MCP server. */
export type FoundHook = { readonly event: string; readonly command?: string };

/** The same hooks in a plugin of Earpiece that the host has enabled. */
export type EnabledPlugin = {
  /** As the host names it. */
  readonly name: string;
  /** Undefined where the host does not say. */
  readonly folder?: string;
  readonly hooks: readonly FoundHook[];
};

/** For a host with hooks in its settings. */
export type Hooks = {
  readonly host: HookHost;
  file(place: Place): string;
  /** Earpiece's hooks in such a file. */
  found(text: string): readonly FoundHook[];
  disabled(place: Place): Disabled | undefined;
  enabledPlugin(place: Place): EnabledPlugin | undefined;
};

/** The place of an agent's MCP servers, for one gateway in front of them. */
export type WrapSettings = {
  readonly file: string;
  readonly path: readonly string[];
  /** The path of the list of wrapped servers. */
  readonly list: string;
  /** The names that the agent uses for the environment of a server, and for a server that it starts. */
  readonly env: 'env' | 'environment';
  entry(
    program: { readonly command: string; readonly args: readonly string[] },
    env: Readonly<Record<string, string>>,
  ): Readonly<Record<string, unknown>>;
};

export interface Setup {
  /** Its name on Earpiece's command line. */
  readonly name: string;
  readonly title: string;
  /** The commands that start it. */
  readonly commands: readonly string[];
  /** The agent is in use if one of these folders exists. */
  folders(place: Place): readonly string[];
  parts(place: Place, ours: Ours): readonly Part[];
  readonly hooks?: Hooks;
  /** The place of its MCP servers, if one gateway can be put in front of them; or the reason why that is impossible. */
  readonly wraps: ((place: Place, ours: Ours) => WrapSettings) | { readonly not: string };
  /** For a host that loads an Earpiece plugin. */
  readonly plugin?: { file(place: Place): string; isOurs(text: string | undefined): boolean };
  /** A step that the person must take before the entries have an effect, in one sentence. */
  readonly next?: string;
}
