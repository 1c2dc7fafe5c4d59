/**
 * The folder that a `path` names, empty for the bundle's root; undefined where it is outside.
 * Cleaned by hand: node:path takes minutes for the parts that an object has room for.
 */
export function bundleFolder(path = ''): string | undefined {
  if (path.startsWith('/')) return undefined;
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') {
      if (parts.pop() === undefined) return undefined;
    } else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts.join('/');
}
