/** The fault points at which a gateway is killed. */
export const GATEWAY_POINTS = [
  'append.begun',
  'append.record_written',
  'append.items_written',
  'append.committed',
  'offer.planned',
  'offer.appended',
  // The promises differ most around the write of an answer, so a kill there is more likely.
  'carrier.before_bytes',
  'carrier.before_bytes',
  'carrier.before_bytes',
  'carrier.after_bytes',
  'carrier.after_bytes',
  'confirm.before',
  'confirm.after',
  'release.before',
  'touch.committed',
] as const;
