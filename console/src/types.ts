/** The types of the API and of the log that the console uses. */
export type {
  AgentSummary,
  ConversationSummary,
  Counts,
  Doing,
  Force,
  Fork,
  ForksReply,
  Hit,
  NotificationView,
  SettingChange,
  SettingReply,
  SettingScope,
  SettingsReply,
  StoryItem,
  SubscriberItem,
  TaskView,
} from '../../src/wire/client/index.ts';
export type { Deliver, Level } from '../../src/core/notification.ts';
export type { TaskExecution, TaskPriority, TaskStatus } from '../../src/core/task.ts';
