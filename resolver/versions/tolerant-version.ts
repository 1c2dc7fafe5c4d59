import { parseVersion, type Version, VersionError } from './version.ts';

/**
 * Reads a version that may have spaces around it, a leading "v", leading zeros, or fewer than
 * three numbers: `v1.02` is 1.2.0.
 * @throws VersionError
 */
export function parseTolerantVersion(text: string): Version {
  const [major = '', minor, ...rest] = trimmed(text).replace(/^v/, '').split('.');
  const patch = rest.length === 0 ? undefined : rest.join('.');
  const parts = [major, minor, patch].flatMap((part) =>
    part === undefined ? [] : [withoutLeadingZeros(part)],
  );
  if (parts.length < 3 && /[+-]/.test(parts.at(-1) ?? '')) {
    throw new VersionError('Short version cannot contain PreRelease/Build meta data');
  }
  return parseVersion([...parts, '0', '0'].slice(0, 3).join('.'));
}

// Go's spaces: those of JavaScript's trim differ by U+0085 and U+FEFF.
const space = /\p{White_Space}/u;

function trimmed(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && space.test(text.charAt(start))) start += 1;
  while (end > start && space.test(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function withoutLeadingZeros(part: string): string {
  // Upstream counts bytes.
  if (part.length < 2 && part <= '\x7f') return part;
  const rest = part.replace(/^0+/, '');
  return /^[0-9]/.test(rest) ? rest : `0${rest}`;
}
