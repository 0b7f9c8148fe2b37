/**
 * Describes the changes that `earpiece install` makes for an agent: the files, and the Earpiece entries in them. There is one
 * `Setup` for each agent.
 */
import type { Edited } from '../../config/edit.ts';
import type { BridgeCommand } from '../bridge/index.ts';
import type { HookHost, Host } from '../host.ts';
import type { Ours } from './ours.ts';

export type Scope = 'user' | 'project';

/** The home and the project whose settings are changed. */
export type Place = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** The project's root folder. */
  readonly project: string;
  readonly scope: Scope;
  /** The root folder of the administrator's settings: `/`, except in tests. */
  readonly system: string;
};

/** One change of one file. `add` and `remove` leave all other bytes as they are, and neither throws. */
export type Part = {
  readonly file: string;
  /** The text that a person reads before they confirm the installation: `hooks at Stop`. */
  readonly what: string;
  /** Adds Earpiece's entries, and replaces older Earpiece entries. `base`: the text before the first installation. */
  add(text: string, base?: string): Edited;
  /**
   * Removes Earpiece's entries. `base`: the text before the first installation. A table of this text stays, even if the table
   * becomes empty.
   */
  remove(text: string, base?: string): Edited;
  /** Set for a file of Earpiece that only its user may read. */
  readonly isPrivate?: true;
  /** Whether the text contains Earpiece's MCP server. Set only for the part that adds this server. */
  readonly hasServer?: (text: string) => boolean;
  /** Returns the command of the MCP server with Earpiece's name, as words. Set only for the part that adds this server. */
  readonly serverWords?: (text: string) => readonly string[];
};

/**
 * The reason why an agent ignores an installation, and what a person can do. `ofServer`: the agent ignores only the MCP server.
 * `notOfPlugin`: the agent still runs the hooks of a plugin.
 */
export type Disabled = {
  readonly why: string;
  readonly advice: string;
  readonly ofServer?: true;
  readonly notOfPlugin?: true;
};

/** A variable that the settings of an agent give to programs of Earpiece. */
export type SetVariable = {
  readonly name: string;
  readonly value: string;
  readonly file: string;
  /** The path of the variable in the file: `env.EARPIECE_DB`. */
  readonly key: string;
  /** The programs that get the variable: hooks and MCP server, only the MCP server, or the commands that the model runs. */
  readonly of: 'all' | 'server' | 'commands';
  /** Whether only an administrator changes the file. */
  readonly isMachine: boolean;
};

/** An Earpiece hook in a settings file. Without a command, the host calls the MCP server. */
export type FoundHook = { readonly event: string; readonly command?: string; readonly name?: string };

/** A file with a second copy of Earpiece's hooks. `isByHand`: a person wrote a hook of the copy. */
export type HookCopy = { readonly file: string; readonly isByHand: boolean };

/** An enabled plugin of Earpiece at the host. Its hooks are the hooks that `earpiece install` would add. */
export type EnabledPlugin = {
  /** The host's name for the plugin. */
  readonly name: string;
  /** The folder of the plugin; undefined if the host does not show the folder. */
  readonly folder?: string;
  readonly hooks: readonly FoundHook[];
};

/** The hooks in the settings of a host. */
export type Hooks = {
  readonly host: HookHost;
  file(place: Place): string;
  /** Finds Earpiece's hooks in the text of a settings file. */
  found(text: string): readonly FoundHook[];
  /** Finds the events for which the text of a settings file contains Earpiece's hooks more than once. */
  doubled(text: string): readonly string[];
  /** Finds hooks of Earpiece in other files of the agent, and hooks of Earpiece that a person wrote. */
  copies(place: Place): readonly HookCopy[];
  enabledPlugin(place: Place): EnabledPlugin | undefined;
};

/** The place of an agent's MCP servers, for one gateway in front of them. */
export type WrapSettings = {
  readonly file: string;
  readonly path: readonly string[];
  /** The path of the list of wrapped servers. */
  readonly list: string;
  /** The key of a server's environment in the agent's settings. */
  readonly env: 'env' | 'environment';
  entry(
    program: { readonly command: string; readonly args: readonly string[] },
    env: Readonly<Record<string, string>>,
  ): Readonly<Record<string, unknown>>;
};

export interface Setup {
  /** The host's name on Earpiece's command line. */
  readonly name: string;
  readonly title: string;
  /** The commands that start the agent. */
  readonly commands: readonly string[];
  /** Returns the folders of the agent. If one of these folders exists, the agent is in use. */
  folders(place: Place): readonly string[];
  parts(place: Place, ours: Ours): readonly Part[];
  /** Returns the settings that make the agent ignore an installation in this project. */
  switchedOff(place: Place): readonly Disabled[];
  /** Returns the variables that the agent's settings give to Earpiece in this project. */
  variables(place: Place): readonly SetVariable[];
  readonly hooks?: Hooks;
  /** The place of the agent's MCP servers, or the reason why no gateway can be put in front of these servers. */
  readonly wraps: ((place: Place, ours: Ours) => WrapSettings) | { readonly not: string };
  /**
   * The plugin file, for a host that loads an Earpiece plugin. `command` reads from the file's text how the plugin starts its
   * bridge.
   */
  readonly plugin?: {
    readonly host: Host;
    file(place: Place): string;
    isOurs(text: string | undefined): boolean;
    command(text: string): BridgeCommand | undefined;
  };
  /** A step that the person must take before the entries have an effect, in one sentence. */
  readonly next?: string;
}
