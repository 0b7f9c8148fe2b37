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
