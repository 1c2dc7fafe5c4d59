import { describe, expect, it } from 'vitest';
import { compareVersions, parseVersion, versionProblem, versionText } from './index.ts';

describe('a version', () => {
  it.each(['1.2.3', '1.2.3-rc.1+b.01', '0.0.0', '18446744073709551615.0.0', '1.2.3-x-y.z.0+-'])(
    '%s is read and written as it is',
    (text) => {
      expect(versionProblem(text)).toBeUndefined();
      expect(versionText(parseVersion(text))).toBe(text);
    },
  );

  // Recorded from blang/semver v4.0.0.
  it.each([
    ['', 'Version string empty'],
    ['1.2', 'No Major.Minor.Patch elements found'],
    ['v1.0', 'No Major.Minor.Patch elements found'],
    ['v1.2.3', 'Invalid character(s) found in major number "v1"'],
    ['1.02.3', 'Minor number must not contain leading zeroes "02"'],
    ['1..3', 'strconv.ParseUint: parsing "": invalid syntax'],
    [
      '18446744073709551616.0.0',
      'strconv.ParseUint: parsing "18446744073709551616": value out of range',
    ],
    ['1.2.3.4', 'Invalid character(s) found in patch number "3.4"'],
    ['1.2.3-', 'Prerelease is empty'],
    ['1.2.3+', 'Build meta data is empty'],
    ['1.2.3-a_b', 'Invalid character(s) found in prerelease "a_b"'],
    ['1.2.3+a_b', 'Invalid character(s) found in build meta data "a_b"'],
    ['1.2.3-01', 'Numeric PreRelease version must not contain leading zeroes "01"'],
    ['\u0007.2.3', 'Invalid character(s) found in major number "\\a"'],
  ])('%j is none', (text, problem) => {
    expect(versionProblem(text)).toBe(problem);
  });

  it('is ordered by semver, without its build metadata', () => {
    const ordered = ['1.0.0-1', '1.0.0-2', '1.0.0-10', '1.0.0-a', '1.0.0-a.1', '1.0.0-b', '1.0.0'];
    const reversed = ordered.map((text) => parseVersion(text)).toReversed();
    expect(reversed.toSorted(compareVersions).map(versionText)).toEqual(ordered);
    expect(compareVersions(parseVersion('1.0.0+a'), parseVersion('1.0.0+b'))).toBe(0);
    expect(compareVersions(parseVersion('1.9.0'), parseVersion('1.10.0'))).toBeLessThan(0);
  });
});
