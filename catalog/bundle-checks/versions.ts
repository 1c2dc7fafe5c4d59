const identifiers = /^[0-9A-Za-z-]+$/;
const core = /^([^.]*)\.([^.]*)\.([^.+-]*)(?:-([^+]*))?(?:\+(.*))?$/;

/**
 * Why a text is no version of semver 2 (`1.2.3[-pre][+build]`), as the library says that catalogs'
 * tools parse it with; undefined where it is one.
 */
export function versionProblem(version: string): string | undefined {
  if (version === '') return 'Version string empty';
  const match = core.exec(version);
  if (match === null) return 'No Major.Minor.Patch elements found';
  const [, major = '', minor = '', patch = '', pre, build] = match;
  const parts: readonly [string, string][] = [
    ['major', major],
    ['minor', minor],
    ['patch', patch],
  ];
  const wrong = parts.map(([name, text]) => numberProblem(name, text)).find(Boolean);
  return (
    wrong ?? identifierProblem('prerelease', pre) ?? identifierProblem('build meta data', build)
  );
}

function numberProblem(name: string, text: string): string | undefined {
  if (!/^[0-9]+$/.test(text)) return `Invalid character(s) found in ${name} number "${text}"`;
  const title = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  return /^0./.test(text) ? `${title} number must not contain leading zeroes "${text}"` : undefined;
}

function identifierProblem(what: string, text: string | undefined): string | undefined {
  const parts = text?.split('.') ?? [];
  if (parts.includes(''))
    return `${what === 'prerelease' ? 'Prerelease' : 'Build meta data'} is empty`;
  const odd = parts.find((part) => !identifiers.test(part));
  if (odd !== undefined) return `Invalid character(s) found in ${what} "${odd}"`;
  const zero = what === 'prerelease' ? parts.find((part) => /^0[0-9]+$/.test(part)) : undefined;
  return zero && `Numeric PreRelease version must not contain leading zeroes "${zero}"`;
}

/** Major, minor and patch as the same library reads them where it is tolerant: `v1.25` is 1.25.0. */
export function tolerantVersion(text: string): readonly number[] | undefined {
  const match = /^v?([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?(?:[-+].*)?$/.exec(text.trim());
  return match?.slice(1, 4).map((part) => Number(part ?? 0));
}

/** Whether a version that was read tolerantly is not below another one. */
export function isAtLeast(version: readonly number[], least: readonly number[]): boolean {
  const at = least.findIndex((part, index) => part !== version[index]);
  return at === -1 || (version[at] ?? 0) > (least[at] ?? 0);
}

const condition = /^(?:==?|!=?|>=?|<=?)?(.+)$/;

/**
 * Whether a text is a range as catalogs' library has it: conditions with three numbers each, a space
 * for and, ` || ` for or.
 */
export function isVersionRange(text: string): boolean {
  return text.split(' || ').every((alternative) => {
    const words = alternative.replaceAll(/([=!<>])\s+/g, '$1').split(/\s+/);
    // Single characters are passed over there: "1.0.0 - 2.0.0" is two conditions.
    const conditions = words.filter((word) => word.length > 1);
    return conditions.length > 0 && conditions.every(isCondition);
  });
}

// The last numbers may be left open: 1.2.x, 1.x.
function isCondition(text: string): boolean {
  const version = condition.exec(text)?.[1] ?? '';
  const closed = version.replace(/^([0-9]+)\.x(?:\.x)?$/, '$1.0.0').replace(/\.x$/, '.0');
  return versionProblem(closed) === undefined;
}
