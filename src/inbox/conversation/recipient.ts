/** The recipient of a delivery: one conversation of an agent, as its host described it. */
import type { ConversationId, LogKey } from '../../core/address.ts';
import type { Policy } from '../../core/policy.ts';
import type { PresenceUpdate } from '../../core/ports.ts';
import type { ContactPoint, ViewName } from '../../core/records.ts';
import type { Context } from '../context.ts';

export type ConversationOptions = {
  readonly purpose?: string;
  readonly host?: string;
  readonly hostVersion?: string;
  readonly process?: PresenceUpdate['process'];
  /** Whether the process serves many conversations, so that a live process does not prove that the conversation is active. */
  readonly shared?: boolean;
  /** The worktree that the conversation works in. */
  readonly folder?: string;
  /** The name of this process's carrier, which `doctor` shows: `gateway:stdio files`. */
  readonly carrier?: string;
  /** The contact points that the host has. Empty if the contact points are unknown. */
  readonly points?: readonly ContactPoint[];
  /** Whether the model can call `get_notifications`. */
  readonly pulls?: boolean;
  /**
   * Returns the model's name for an Earpiece tool. The name differs if another server of the host has a tool of the same name.
   */
  readonly nameOf?: (tool: string) => string;
  /**
   * The Earpiece tools that the model can call, except `get_notifications`. Default: the tools that another carrier of this
   * conversation reported last.
   */
  readonly has?: readonly string[];
  /**
   * Returns the mark that the server's instructions have explained to the model. Undefined if the instructions explained no mark.
   */
  readonly knownMark?: () => string | undefined;
  /** Overrides the policy's view. */
  readonly view?: ViewName;
};

export type Recipient = {
  readonly context: Context;
  readonly log: LogKey;
  readonly id: ConversationId;
  readonly options: ConversationOptions;
};

const PULL = 'get_notifications';

export const policyOf = ({ context, log }: Pick<Recipient, 'context' | 'log'>): Policy =>
  context.policies.policy(log.slice(0, log.indexOf('/')));

export const formatOf = (recipient: Recipient): ViewName => recipient.options.view ?? policyOf(recipient).view;

/** Whether the view only says that notifications wait, and shows none of them. */
export const isSignal = (format: ViewName): boolean => format === 'signal_en' || format === 'signal_ja';

/** Returns the model's name for an Earpiece tool. */
export const toolName = ({ options }: Recipient, tool: string): string => options.nameOf?.(tool) ?? tool;

/** Returns the model's name for `get_notifications`. False if the model does not have the tool. */
export const pullName = (recipient: Recipient): string | false => recipient.options.pulls === true && toolName(recipient, PULL);
