/**
 * Defines the rules of plain English that a machine can check. Each rule has a sentence that breaks the rule, and a better
 * sentence.
 */

export type Rule = {
  readonly id: string;
  readonly pattern: RegExp;
  /** A text that breaks the rule, and how to write it instead. */
  readonly bad: string;
  readonly better: string;
  /** A heading, a table cell or a list label is not a sentence, so this rule skips short texts. */
  readonly sentencesOnly?: true;
};

const opening = (words: string): RegExp => new RegExp(`^(?:${words})(?![\\w’'-])`, 'iu');
const anywhere = (words: string): RegExp => new RegExp(`(?<![\\w-])(?:${words})(?![\\w-])`, 'iu');

/** Verbs after "this", "that" or "these" without a noun. The verbs are listed, because a noun may end with an s too ("this process"). */
const VERBS = [
  'is|was|are|were|has|have|had|does|do|did|can|cannot|could|may|might|must|will|would|should|also|always|never',
  'allows|applies|causes|depends|erases|gives|happens|helps|holds|keeps|makes|means|prevents|proves|removes|saves|shows|takes|works',
].join('|');

/** Rules are tried in this order, and the first that a sentence breaks is reported. */
export const RULES: readonly Rule[] = [
  {
    id: 'opening-what',
    pattern: opening('What|Whatever|Whichever'),
    bad: 'What is over is taken back.',
    better: 'Resolved events are withdrawn.',
    sentencesOnly: true,
  },
  {
    id: 'opening-who',
    pattern: opening('Who|Whom|Whose|Whoever'),
    bad: 'Who asks without a browser is told all this.',
    better: '`curl /` prints these instructions.',
  },
  {
    id: 'opening-of',
    pattern: opening('Of'),
    bad: 'Of a batch with an invalid event, nothing is emitted.',
    better: 'One invalid event rejects the whole batch.',
  },
  {
    id: 'opening-that',
    pattern: opening('That (?:a|an|the|it|they|he|she|you|one|somebody|nobody|nothing)'),
    bad: 'That a text is in the request does not mean that a model heeds it.',
    better: 'Delivery does not mean that the model acts on it.',
  },
  {
    id: 'opening-those',
    pattern: opening('Those(?: (?:who|that|of|whom|which))?'),
    bad: 'Those who tell of states set a key.',
    better: 'Producers of states set a key.',
  },
  {
    id: 'opening-where',
    pattern: opening('Where'),
    bad: 'Where a source with higher priority sets the key, the page names it.',
    better: 'If a source with higher priority sets the key, the page names that source.',
    sentencesOnly: true,
  },
  {
    id: 'clause-subject',
    pattern:
      /(?:[;:,] |\b(?:and|but|so|then) )(?:what|who|whoever|whatever) (?:is|are|was|were|has|have|it|they|you|others|somebody|comes|came|waits|ends|wants|cannot|can|does)\b[^,;:.?]{0,60}? (?:is|are|was|were|has|stays?|goes|comes?|counts?|rides?|waits?|closes?)\b/u,
    bad: 'Crashes lose nothing, and what is over is withdrawn.',
    better: 'Crashes lose nothing, and resolved events are withdrawn.',
  },
  {
    id: 'told',
    pattern: anywhere('(?:is|are|was|were|be|been|being|gets?) told|tells? of|told of'),
    bad: 'The agent is told when the build ends.',
    better: 'Earpiece notifies the agent when the build ends.',
  },
  {
    id: 'of-ours',
    pattern: anywhere('of (?:ours|yours|mine|theirs|his|hers|its own|their own|your own|our own)'),
    bad: 'A thread of its own reads the file of ours.',
    better: 'A separate thread reads the database.',
  },
  {
    id: 'had',
    pattern: anywhere('(?:is|are|was|were|be) had'),
    bad: 'One connection is had for each server.',
    better: 'Each server has one connection.',
  },
  {
    id: 'comes-along',
    pattern: anywhere('com(?:e|es|ing) along'),
    bad: 'It rides on the next message that comes along.',
    better: 'The next message carries the notification.',
  },
  {
    id: 'none',
    pattern: /\b(?:(?:one|that|which|this|value|word|number|it) (?:is|are)|that are|is an? \w+ that is) none\b|\bis none of\b/iu,
    bad: 'A value that is none is refused.',
    better: 'An invalid value is refused.',
  },
  {
    id: 'is-no',
    pattern: /(?<!\b[Tt]here )\b(?:is|are|was|were) no (?!longer\b|more\b|less\b|different\b)\w+/u,
    bad: 'The file is no TOML.',
    better: 'The file is not valid TOML.',
  },
  {
    id: 'taken-back',
    pattern: anywhere(
      'tak(?:e|es|en|ing) (?:(?:it|them|that|those|one|the \\w+|an? \\w+|its \\w+) )?back|took (?:it |them )?back',
    ),
    bad: 'A passed build takes its failure back.',
    better: 'A passed build withdraws its failure.',
  },
  {
    id: 'stands',
    pattern:
      /\b(?:stands?|stood|standing) (?:in|on|at|behind|beside|above|below|before|between|there|here|once|only|as|for|alone|so|by)\b/iu,
    bad: 'The secret stands in a variable.',
    better: 'An environment variable holds the secret.',
  },
  {
    id: 'all-the-same',
    pattern: anywhere(
      'all the same|goes? on blindly|in sum|but for|as ever|heeds?|heeded|mends?|mended|mending|somebody stronger|makes? less of',
    ),
    bad: 'The file loads all the same until it is mended.',
    better: 'The file still loads until you fix it.',
  },
  {
    id: 'so-long',
    pattern: /\b(?:after|at most|for|than) so (?:long|many|much)\b|\bso (?:long|many) after\b/iu,
    bad: 'It ends after so long, with at most so many lines.',
    better: 'The command ends after this duration, with at most <n> lines.',
  },
  {
    id: 'is-said',
    pattern: anywhere('(?:is|are|was|were) said|says? of (?:itself|themselves)|is let|are let'),
    bad: 'The mark is said before the first frame.',
    better: 'The instructions name the mark before the first frame.',
  },
  {
    id: 'gone',
    pattern: anywhere('is gone on with|one that is gone on|is (?:made|done) anew|others now|is another one'),
    bad: 'A conversation that is gone on with keeps its tools.',
    better: 'A resumed conversation keeps its tools.',
  },
  {
    id: 'opening-it',
    // After a semicolon, a sentence begins in lower case.
    pattern: new RegExp(`(?:^(?:It|They|(?:This|That|These) (?:${VERBS}))|; (?:it|they))(?![\\w-])`, 'u'),
    bad: 'It can be undone.',
    better: 'The command can be undone.',
    sentencesOnly: true,
  },
];

/**
 * The maximum number of words of a sentence, except in titles of tests. Code in backticks and a link count as one word. A list
 * of three or more entries after a colon counts as its longest entry.
 */
export const MAX_WORDS = 25;

export const LONG = {
  id: 'long',
  better: `say one idea a sentence, in at most ${MAX_WORDS} words: end the sentence at the first full thought`,
} as const;
