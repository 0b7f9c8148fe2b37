/**
 * Observes the surroundings of Earpiece's agent: other programs' changes to files that the agent has read, and to its repository.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileTools, type Tool } from '../../agent/index.ts';
import type { Conversation } from '../../inbox/index.ts';
import type { LoadedInbox } from '../../loaded-inbox.ts';
import { filesSource, type FilesSource } from '../../sources/files/index.ts';
import { gitSource, type GitSource } from '../../sources/git/index.ts';

export type Surroundings = {
  /**
   * Returns the given tools and the built-in file tools. The tool `run` is wrapped, so that the changes of its foreground
   * commands to the repository count as the agent's changes.
   */
  tools(given: readonly Tool[]): readonly Tool[];
  start(): Promise<void>;
  /** Stops observing, and stores which files the agent has read, for the next start. */
  stop(conversation: Conversation): Promise<void>;
};

export type SurroundingsOptions = {
  readonly ear: LoadedInbox;
  /** The address to notify. */
  readonly address: string;
  /** Whether to observe the repository. True for the first agent, and false for its sub-agents. */
  readonly withGit: boolean;
  readonly note: (line: string) => void;
};

export async function surroundingsOf({ ear, address, withGit, note }: SurroundingsOptions): Promise<Surroundings> {
  const { sources, projectRoot: root } = ear.config;
  const inRepository = existsSync(join(root, '.git'));
  const follows = (source: { readonly enable: boolean | undefined }): boolean => source.enable ?? inRepository;
  const shared = { emitter: ear.bus, subject: address, root, onTrouble: note };
  const files = follows(sources.files)
    ? filesSource({
        ...shared,
        globs: sources.files.globs,
        debounceMs: sources.files.debounceMs,
        known: await lastKnown(ear, address),
      })
    : undefined;
  const { fetchEveryMs } = sources.git;
  const git =
    withGit && inRepository && follows(sources.git)
      ? gitSource({ ...shared, ...(fetchEveryMs === null ? {} : { fetchEveryMs }) })
      : undefined;
  return {
    tools: (given) => [
      ...(git === undefined ? given : given.map((tool) => (tool.name === 'run' ? ofItsOwn(tool, git) : tool))),
      ...fileTools({ root: process.cwd(), files }),
    ],
    start: async () => void (await Promise.all([files?.start(), git?.start()])),
    stop: async (conversation) => {
      await Promise.all([files?.stop(), git?.stop()]);
      await keepKnown(conversation, files);
    },
  };
}

/**
 * Wraps the tool `run`, so that the changes of its foreground commands count as the agent's changes. A background command may
 * change files at any time, so its changes do not count.
 */
const ofItsOwn = (tool: Tool, git: GitSource): Tool => ({
  ...tool,
  execute: (args, call) => {
    const { action, background } = (args ?? {}) as { action?: unknown; background?: unknown };
    if (action !== undefined || background === true) return tool.execute(args, call);
    return git.withOwnCommand(() => tool.execute(args, call));
  },
});

const KNOWN = 'files_known';
/** The maximum number of files that are stored. The files that were read last are kept. */
const KEPT = 500;

async function lastKnown(ear: LoadedInbox, address: string): Promise<Readonly<Record<string, string>>> {
  for await (const { body } of ear.transcript(ear.conversation(address), { types: [KNOWN], newestFirst: true }))
    return (body as { files?: Readonly<Record<string, string>> }).files ?? {};
  return {};
}

async function keepKnown(conversation: Conversation, files: FilesSource | undefined): Promise<void> {
  const known = Object.entries(files?.known() ?? {}).slice(-KEPT);
  if (known.length > 0) await conversation.record([{ type: KNOWN, files: Object.fromEntries(known) }]);
}
