import { describe, expect, it } from 'vitest';
import { parseTolerantVersion, VersionError, versionText } from './index.ts';

describe('a tolerant version', () => {
  // Recorded from blang/semver v4.0.0.
  it.each([
    [' v1.2\n', '1.2.0'],
    ['1', '1.0.0'],
    ['0', '0.0.0'],
    ['01.002.0003-rc.1+b', '1.2.3-rc.1+b'],
    ['1.00.0', '1.0.0'],
    ['\u00a01.0.0\u0085', '1.0.0'],
  ])('%j is %s', (text, version) => {
    expect(versionText(parseTolerantVersion(text))).toBe(version);
  });

  it.each([
    ['', 'strconv.ParseUint: parsing "": invalid syntax'],
    ['1.2-rc', 'Short version cannot contain PreRelease/Build meta data'],
    ['vv1', 'Invalid character(s) found in major number "0v1"'],
    ['red', 'Invalid character(s) found in major number "0red"'],
    ['1.2.3.4', 'Invalid character(s) found in patch number "3.4"'],
  ])('%j is none', (text, problem) => {
    expect(() => parseTolerantVersion(text)).toThrow(new VersionError(problem));
  });
});
