import { versionProblem } from './strict-version.ts';

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
