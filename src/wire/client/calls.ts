/** The methods of the client: one for each route of the API that programs use. */
import type {
  ActivityReply,
  AgentSummary,
  ConversationSummary,
  CreatedToken,
  EmittedReply,
  ForksReply,
  Health,
  InterruptReply,
  MutesReply,
  NotificationsPage,
  Page,
  QueuedReply,
  ReceiptReply,
  RecordsPage,
  ResumeReply,
  SearchPage,
  SessionReply,
  SettingScope,
  SettingsReply,
  Story,
  SubscriberItem,
  SubscribersReply,
  SubscriberTestReply,
  TaskView,
  TokenInfo,
  TokenRequest,
  WithdrawReply,
} from '../api.ts';
import type { Json } from '../../core/json.ts';
import type { Action, Deliver, Level, NotificationInput } from '../../core/notification.ts';
import type { ReceiptName } from '../../core/receipts.ts';
import type { Stored } from '../../core/records.ts';
import type { TaskExecution, TaskPriority, TaskStatus } from '../../core/task.ts';
import type { StreamOptions } from './stream.ts';

export type Call = { readonly signal?: AbortSignal };
type InProject = Call & { readonly project?: string };
type Paged = Call & { readonly limit?: number };
/** An agent (`project/agent`), or a conversation (`project/agent#conversation`). */
type AddressText = string;

export interface Client {
  readonly url: string;

  health(options?: Call): Promise<Health>;
  /** Logs this browser in. Later requests send the browser's cookie. */
  logIn(by: { readonly code: string } | { readonly token: string }): Promise<SessionReply>;
  session(options?: Call): Promise<SessionReply>;
  logOut(): Promise<void>;

  agents(query?: Paged & { readonly project?: string; readonly after?: string }): Promise<Page<AgentSummary>>;
  /** Lists the conversations of an agent, or only the conversation with this name. */
  conversations(
    agent: AddressText,
    query?: Paged & { readonly after?: string; readonly conversation?: string },
  ): Promise<Page<ConversationSummary>>;
  /** Lists the records of a conversation. An address without a conversation means the agent's `#main`. */
  records(
    conversation: AddressText,
    query?: Paged & { readonly after?: number; readonly before?: number; readonly newest?: boolean },
  ): Promise<RecordsPage>;
  /**
   * Finds words in a conversation, newest match first. `next` continues with older records. Without words, the call lists the
   * records from `from` to `to`.
   */
  search(
    conversation: AddressText,
    query: Paged & { readonly q?: string; readonly from?: number; readonly to?: number; readonly before?: string },
  ): Promise<SearchPage>;
  /**
   * Lists the forks of a conversation. `at` is the position of a record. With `at`, the answer has the number of turns up to that
   * record.
   */
  forks(conversation: AddressText, query?: Call & { readonly at?: number }): Promise<ForksReply>;
  /** Lists the records of an agent, a project or all projects. */
  log(
    query?: Paged & {
      readonly log?: string;
      readonly project?: string;
      readonly after?: number;
      readonly before?: number;
      readonly newest?: boolean;
    },
  ): Promise<RecordsPage>;
  stream(options?: StreamOptions): AsyncGenerator<Stored, void, undefined>;

  say(
    conversation: AddressText,
    message: { readonly content: string; readonly author?: string; readonly level?: Level; readonly deliver?: Deliver },
    options?: Call & { readonly idempotencyKey?: string },
  ): Promise<QueuedReply>;
  /** Interrupts one conversation, or all active conversations of an agent. */
  interrupt(
    address: AddressText,
    asked: {
      readonly action: Exclude<Action, 'resume'>;
      readonly message?: string;
      readonly instruction?: string;
      readonly author?: string;
    },
    options?: Call & { readonly idempotencyKey?: string },
  ): Promise<InterruptReply>;

  /** Lifts the pauses of a conversation, an agent or a project (`project/*`). Retrying is safe. */
  resume(
    address: AddressText,
    asked?: { readonly message?: string; readonly author?: string },
    options?: Call,
  ): Promise<ResumeReply>;

  queue(
    notification: NotificationInput & { readonly to: string },
    options?: Call & { readonly idempotencyKey?: string },
  ): Promise<QueuedReply>;
  notifications(
    query?: Paged & {
      readonly log?: string;
      readonly project?: string;
      readonly conversation?: string;
      readonly state?: 'open' | 'closed' | 'all';
      readonly source?: string;
      readonly level?: Level;
      /** The kind `source.name` of the notifications. */
      readonly kind?: string;
      /**
       * The period from `from` (inclusive) to `to` (exclusive) in which the notification was queued or delivered, epoch ms. With
       * `waiting`, the notification was open at `to`.
       */
      readonly from?: number;
      readonly to?: number;
      readonly by?: 'queued' | 'delivered' | 'waiting';
      /** Words that the text of the notification contains. */
      readonly q?: string;
      readonly before?: string | number;
    },
  ): Promise<NotificationsPage>;
  why(id: string, log?: string, options?: Call): Promise<Story>;
  withdraw(id: string, options?: Call & { readonly log?: string; readonly reason?: string }): Promise<WithdrawReply>;
  read(id: string, options?: Call & { readonly log?: string }): Promise<ReceiptReply>;
  requeue(id: string, options?: Call & { readonly log?: string }): Promise<QueuedReply>;
  /** Waits for a receipt for at most `withinMs` (0 to 60,000, default 0). Call `receipt` again while `settled` is false. */
  receipt(
    id: string,
    options?: Call & {
      readonly log?: string;
      readonly until?: ReceiptName;
      /** The longest wait, in milliseconds. */
      readonly withinMs?: number;
    },
  ): Promise<ReceiptReply>;

  /**
   * Sends one or several events in the form of CloudEvents 1.0. The subject is the address of the agents that the event concerns.
   */
  emit(events: CloudEventInput | readonly CloudEventInput[], options?: Call): Promise<EmittedReply>;

  subscribers(query?: Call & { readonly project?: string }): Promise<SubscribersReply>;
  toggleSubscriber(id: string, enabled: boolean, query?: Call & { readonly project?: string }): Promise<SubscriberItem>;
  /**
   * Renders a subscriber for a sample event. With `to`, the server also sends that agent a notification that is marked as a test.
   */
  testSubscriber(
    id: string,
    query?: Call & { readonly project?: string; readonly to?: AddressText; readonly for?: AddressText },
  ): Promise<SubscriberTestReply>;
  disabledSubscribers(query?: Call & { readonly project?: string }): Promise<readonly string[]>;
  setDisabledSubscribers(ids: readonly string[], query?: Call & { readonly project?: string }): Promise<readonly string[]>;
  mutes(query?: Call & { readonly log?: string; readonly project?: string }): Promise<MutesReply>;
  /** Mutes a kind for an agent. `until`: epoch ms. Null or undefined: until the mute is lifted. */
  mute(log: string, pattern: string, options?: Call & { readonly until?: number | null }): Promise<MutesReply>;
  unmute(log: string, pattern: string, options?: Call): Promise<MutesReply>;
  settings(options?: Call): Promise<SettingsReply>;
  /**
   * Changes settings by key in the user's file (for all projects) or in the project's file. Null removes a setting. If one change
   * fails, no setting changes.
   */
  changeSettings(
    settings: Readonly<Record<string, boolean | number | string | readonly string[] | null>>,
    options?: Call & { readonly scope?: SettingScope },
  ): Promise<SettingsReply>;
  activity(
    query?: Call & { readonly project?: string; readonly from?: number; readonly to?: number; readonly bucketMs?: number },
  ): Promise<ActivityReply>;

  /**
   * Lists tasks, newest first. Without `project`, lists the tasks of the token's project. If the token has no project, lists the
   * tasks of the server's project.
   */
  tasks(
    query?: Paged & {
      readonly project?: string;
      readonly status?: TaskStatus | readonly TaskStatus[];
      readonly assignee?: string;
      /** If true, lists only tasks that have not ended. */
      readonly open?: boolean;
      readonly before?: string;
    },
  ): Promise<Page<TaskView>>;
  task(id: string, options?: InProject): Promise<TaskView>;
  createTask(
    task: {
      readonly title: string;
      readonly project?: string;
      readonly description?: string;
      readonly priority?: TaskPriority;
      readonly assignee?: string | null;
      readonly status?: 'backlog' | 'todo';
      readonly author?: string;
    },
    options?: Call & { readonly idempotencyKey?: string },
  ): Promise<TaskView>;
  /**
   * Changes a task. `expected`: the status or version that you saw. The call fails with `conflict` if the task now has another
   * status or version.
   */
  editTask(
    id: string,
    edit: {
      readonly title?: string;
      readonly description?: string;
      readonly priority?: TaskPriority;
      readonly assignee?: string | null;
      readonly expected?: TaskStatus | number;
      readonly author?: string;
    },
    options?: InProject,
  ): Promise<TaskView>;
  moveTask(
    id: string,
    to: {
      readonly status: TaskStatus;
      readonly expected?: TaskStatus | number;
      readonly reason?: string;
      readonly author?: string;
    },
    options?: InProject,
  ): Promise<TaskView>;
  taskExecutions(id: string, options?: InProject): Promise<Page<TaskExecution>>;

  tokens(options?: Call): Promise<Page<TokenInfo>>;
  createToken(token: TokenRequest, options?: Call): Promise<CreatedToken>;
  revokeToken(id: string, options?: Call): Promise<void>;

  /**
   * Calls any other route of this server, such as a route that your program mounted. A refused call throws `ApiError`, as in all
   * methods.
   */
  call<T>(method: string, path: string, options?: CallOptions): Promise<T>;
}

export type CloudEventInput = {
  readonly specversion?: '1.0';
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly subject?: string;
  readonly time?: string;
  readonly datacontenttype?: string;
  readonly data?: Json;
  readonly [extension: string]: Json | undefined;
};

type Query = Readonly<Record<string, string | number | boolean | undefined>>;
export type CallOptions = Call & {
  readonly query?: Query;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** How long the server may wait before its answer, in ms. */
  readonly forMs?: number;
  /** An error status for which the call returns the body instead of throwing `ApiError`. */
  readonly alsoStatus?: number;
};
