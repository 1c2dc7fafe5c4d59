import { compareBytes } from '../../api/byte-order.ts';
import { compareVersions, type Version } from '../../resolver/versions/index.ts';

/** Order of bundle names by version: those without a version first, then the lowest version. */
export function byVersion(
  versionOf: (name: string) => Version | undefined,
): (a: string, b: string) => number {
  return (a, b) => {
    const [left, right] = [versionOf(a), versionOf(b)];
    if (left === undefined || right === undefined) {
      return Number(left !== undefined) - Number(right !== undefined) || compareBytes(a, b);
    }
    return compareVersions(left, right) || compareBytes(a, b);
  };
}
