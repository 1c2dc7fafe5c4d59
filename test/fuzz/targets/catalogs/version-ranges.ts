import {
  isInRange,
  parseConstraint,
  parseRange,
  parseTolerantVersion,
  parseVersion,
  satisfies,
  VersionError,
  versionText,
} from '../../../../resolver/versions/index.ts';
import { type FuzzTarget, textOf, Violation } from '../../fuzz-target.ts';

const versions = ['0.0.0', '1.2.3', '1.2.3-rc.1', '18446744073709551615.0.0+b'].map(parseVersion);

/** Versions and ranges, read in all the ways of catalogs and users. */
export const versionRanges: FuzzTarget = {
  name: 'version-ranges',
  seeds: [
    '>=1.0.0 <2.0.0 || 3.x !1.2.1',
    '>=1.11, <1.13 || ~1.2.x || ^0.0 || 1.0 - 2.0',
    'v01.2.3-rc.1+b',
    '18446744073709551615.9223372036854775807.x',
  ],
  words: [
    ' - ',
    '||',
    ' || ',
    ', ',
    '^',
    '~>',
    '=<',
    '!=',
    '.x',
    '.*',
    '-rc.1',
    '+b',
    '99999999999999999999',
  ],
  refusals: [VersionError],
  // Upstream's error quotes nothing of a constraint.
  lineBreaks: /\p{C}/gu,
  // Upstream's error quotes a range up to four times, with up to four characters for a byte.
  bounds: { messagePerByte: 16 },
  read(input) {
    const text = textOf(input);
    let refusal: unknown;
    for (const read of readers) {
      try {
        read(text);
      } catch (error) {
        if (!(error instanceof VersionError)) throw error;
        refusal = error;
      }
    }
    if (refusal instanceof VersionError) throw refusal;
  },
};

const readers: readonly ((text: string) => void)[] = [
  (text) => {
    if (versionText(parseVersion(text)) !== text) throw new Violation('changes a version');
  },
  (text) => void parseVersion(versionText(parseTolerantVersion(text))),
  (text) => {
    const range = parseRange(text);
    for (const version of versions) isInRange(version, range);
  },
  (text) => {
    const constraint = parseConstraint(text);
    for (const version of versions) satisfies(version, constraint);
  },
];
