import { chunked, event, wordsOf, type Wire } from '../answer.ts';

const ENDINGS = { length: 'MAX_TOKENS', refusal: 'SAFETY', error: 'MALFORMED_FUNCTION_CALL' } as const;

/**
 * Writes answers of Gemini, which are a flat list of parts. A call is always one whole part. The first call of the answer has
 * the signature of the thoughts. Without calls, an empty part after the last text has the signature.
 */
export const gemini: Wire = (answer, n, ending) => {
  const say = (part: object): string =>
    event({
      candidates: [{ index: 0, content: { role: 'model', parts: [part] } }],
      modelVersion: 'scripted',
      responseId: `g${n}`,
    });
  const signed = !answer.some((part) => part.kind === 'reasoning' && part.signed === false);
  const thoughtSignature = `thought-${n}`;
  const firstCall = answer.find((part) => part.kind === 'call');
  const lastText = firstCall === undefined ? answer.findLast((part) => part.kind === 'text') : undefined;
  const thinks = answer.some((part) => part.kind === 'reasoning');
  return chunked(answer, {
    start: '',
    part(part) {
      if (part.kind === 'text')
        return [
          ...wordsOf(part.text).map((text) => say({ text })),
          part === lastText && signed && thinks ? say({ text: '', thoughtSignature }) : '',
        ];
      if (part.kind === 'reasoning') return [...wordsOf(part.text).map((text) => say({ text, thought: true })), ''];
      const { id, name, args = {} } = part;
      return [
        '',
        '',
        '',
        say({ functionCall: { id, name, args }, ...(part === firstCall && signed ? { thoughtSignature } : {}) }),
      ];
    },
    end: event({
      candidates: [
        { index: 0, content: { role: 'model', parts: [{ text: '' }] }, finishReason: ending ? ENDINGS[ending] : 'STOP' },
      ],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
      modelVersion: 'scripted',
      responseId: `g${n}`,
    }),
  });
};
