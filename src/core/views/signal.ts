/**
 * Views that only say that there is something; the model fetches it with `get_notifications`. The Japanese texts are those
 * of the third of the designs that this system grew from, the English ones say the same.
 */
export type SignalTexts = { readonly none: string; readonly waiting: string; readonly interrupt: string };

const PULL = 'get_notifications';

/** What the field `notification` says, which is always there. `pulls`: by which name the model knows the tool. */
export function signalText(format: 'signal_en' | 'signal_ja', waiting: boolean, pulls: string = PULL): string {
  const texts = signalTexts(format, pulls);
  return waiting ? texts.waiting : texts.none;
}

export const signalTexts = (format: 'signal_en' | 'signal_ja', pulls: string = PULL): SignalTexts => SIGNALS[format](pulls);

const SIGNALS: Readonly<Record<'signal_en' | 'signal_ja', (pulls: string) => SignalTexts>> = {
  signal_ja: (pulls) => ({
    none: '通知はありません',
    waiting: `【重要】通知があります。${pulls} を呼び出して確認してください。`,
    interrupt: `通知があります。\n\n1. ${pulls}() を呼び出して詳細を確認してください\n2. 通知の指示に従ってください`,
  }),
  signal_en: (pulls) => ({
    none: 'No notifications',
    waiting: `[Important] There are notifications. Call ${pulls} to read them.`,
    interrupt: `There are notifications.\n\n1. Call ${pulls}() for the details\n2. Follow the instructions of the notifications`,
  }),
};
