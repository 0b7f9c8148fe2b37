/** Events become notifications. */
export { Bus, createBus, type BusDeps } from './bus.ts';
export { matchesType } from './matching.ts';
export { MOMENT_OF } from './shape.ts';
export {
  FOLDERS,
  INJECTION_POINTS,
  PRIORITIES,
  type FolderName,
  type InjectAt,
  type Priority,
  type Subscriber,
  type SubscriberProblem,
  type SubscriberSet,
  type SubscriberSource,
  type Template,
} from './subscriber.ts';
export { previewOf, testNotification, type Preview } from './preview.ts';
export { sampleEvent } from './samples.ts';
export { checkRunning } from './subscribers/check.ts';
export { Folder, readSubscriber, type FolderState, type SubscriberFile } from './subscribers/folder.ts';
export {
  formatSubscriberProblem,
  projectFolder,
  shippedFolder,
  subscriberFolders,
  type SubscriberFoldersOptions,
} from './subscribers/folders.ts';
export { subscriberTrust } from './subscribers/trust.ts';
export { subscriberToggles, WHY_LOCKED, type SubscriberToggles, type Toggled, type ToggleScope } from './toggles.ts';
export { contextOf } from './templates/context.ts';
export {
  templateEngine,
  type Complaint,
  type Evaluated,
  type TemplateEngine,
  type TemplateEngineOptions,
} from './templates/engine.ts';
export { storedTemplates, type StoredTemplates } from './templates/stored.ts';
