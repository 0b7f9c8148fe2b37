/** Declares the part of opencode 1.18's plugin API that Earpiece's plugin uses. */

export type Model = { readonly providerID: string; readonly modelID: string; readonly variant?: string };

export type Part = {
  readonly id: string;
  readonly type: string;
  readonly messageID: string;
  readonly sessionID: string;
  readonly text?: string;
  readonly synthetic?: boolean;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly tool?: string;
  readonly callID?: string;
  readonly state?: { readonly status: string; readonly output?: string; readonly error?: string };
};

type Prompt = {
  readonly path: { readonly id: string };
  readonly body: {
    readonly noReply?: boolean;
    readonly agent?: string;
    readonly model?: Pick<Model, 'providerID' | 'modelID'>;
    readonly variant?: string;
    readonly parts: readonly {
      readonly type: 'text';
      readonly text: string;
      readonly synthetic: true;
      readonly metadata: Readonly<Record<string, unknown>>;
    }[];
  };
};

type Outcome<T = unknown> = Promise<{ readonly data?: T; readonly error?: unknown }>;

export type Client = {
  readonly session: {
    get(options: { readonly path: { readonly id: string } }): Outcome<{ readonly parentID?: string }>;
    prompt(options: Prompt): Outcome;
    promptAsync(options: Prompt): Outcome;
    abort(options: { readonly path: { readonly id: string } }): Outcome;
  };
  readonly app: {
    log(options: { readonly body: { readonly service: string; readonly level: string; readonly message: string } }): Outcome;
  };
  readonly tui: {
    showToast(options: {
      readonly body: { readonly title: string; readonly message: string; readonly variant: 'info' | 'warning' };
    }): Outcome;
  };
};

export type Input = { readonly client: Client; readonly directory: string };

export type Event = { readonly type: string; readonly properties?: Readonly<Record<string, unknown>> };

type Session = { readonly sessionID: string };

export type Hooks = {
  dispose?(): Promise<void>;
  event?(input: { readonly event: Event }): Promise<void>;
  'chat.message'?(
    input: Session,
    output: {
      readonly message: { readonly id: string; readonly agent?: string; readonly model?: Model };
      readonly parts: Part[];
    },
  ): Promise<void>;
  'chat.params'?(input: Session & { readonly agent: string | { readonly name?: string } }): Promise<void>;
  'tool.execute.before'?(input: Session & { readonly tool: string; readonly callID: string }): Promise<void>;
  /**
   * Called after a tool call. A built-in tool's result has the text `output`. An MCP tool's result has `content` and no `output`.
   */
  'tool.execute.after'?(
    input: Session & { readonly tool: string; readonly callID: string },
    output: { output?: unknown },
  ): Promise<void>;
  'experimental.text.complete'?(input: Session): Promise<void>;
};
