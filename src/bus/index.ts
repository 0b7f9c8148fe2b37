/** The bus, which turns events into notifications. */
export { Bus, createBus } from './bus.ts';
export { matchesType } from './matching.ts';
export { type Subscriber, type SubscriberProblem, type SubscriberSet, type SubscriberSource } from './subscriber.ts';
export { previewOf, testNotification } from './preview.ts';
export { checkRunning } from './subscribers/check.ts';
export { Folder, readSubscriber, type FolderState, type SubscriberFile } from './subscribers/folder.ts';
export { formatSubscriberProblem, projectFolder, shippedFolder, subscriberFolders } from './subscribers/folders.ts';
export { subscriberTrust } from './subscribers/trust.ts';
export { subscriberToggles, WHY_LOCKED, type SubscriberToggles, type Toggled, type ToggleScope } from './toggles.ts';
export { templateEngine, type TemplateEngine } from './templates/engine.ts';
export { storedTemplates, type StoredTemplates } from './templates/stored.ts';
