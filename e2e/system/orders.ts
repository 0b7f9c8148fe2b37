/** Defines the storm's orders to a host, and the host's answers. */
import type { ToolName } from './tools.ts';

export type HostOptions = {
  readonly tap: string;
  readonly window: string;
  readonly agent: string;
  readonly client: string;
  readonly conversation?: string;
  readonly cwd: string;
  /** The arguments of Node that start a gateway. Empty for a host that speaks HTTP. */
  readonly gateway: readonly string[];
};

export type Order =
  | {
      readonly do: 'connect';
      readonly n: number;
      readonly env: Record<string, string>;
      readonly url?: string;
      /** The process that listens at `url`. */
      readonly pid?: number;
      /** The session has this name from now on. */
      readonly conversation?: string;
    }
  | {
      readonly do: 'call';
      readonly n: number;
      readonly calls: readonly { readonly call: string; readonly tool: ToolName; readonly delayMs: number }[];
      /** The time between sequential calls. By default, all calls are sent at once. */
      readonly gapMs?: number;
      readonly cancelAfterMs?: number;
      /** The time from an answer with a notification to the client's cancel of its request. */
      readonly crossAfterMs?: number;
      readonly lateMs: number;
    }
  | { readonly do: 'pull'; readonly n: number }
  /** The host stops reading for a while. */
  | { readonly do: 'deaf'; readonly n: number; readonly ms: number }
  /** The host closes its reading end, so that writes of the gateway fail. */
  | { readonly do: 'hangUp'; readonly n: number }
  | { readonly do: 'end'; readonly n: number };

/** An order without its number. */
export type Wish<T extends Order = Order> = T extends Order ? Omit<T, 'n'> : never;

/** The outcome of a call. `told` means that the answer contained a notification, and `gone` that no answer arrived. */
export type Answered = 'plain' | 'told' | 'refused' | 'gone';

export type Report =
  | { readonly kind: 'ready' }
  | { readonly kind: 'gateway'; readonly pid: number }
  | { readonly kind: 'gateway_ended'; readonly pid: number; readonly signal: string | null }
  | { readonly kind: 'problem'; readonly text: string }
  | Did;

export type Did = {
  readonly kind: 'did';
  readonly n: number;
  readonly ok: boolean;
  readonly answered?: readonly Answered[];
  readonly pulled?: number | 'gone';
};
