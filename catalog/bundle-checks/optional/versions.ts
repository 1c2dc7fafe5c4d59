/** Major, minor and patch by blang/semver's tolerant rules: `v1.25` is 1.25.0. */
export function tolerantVersion(text: string): readonly number[] | undefined {
  const match = /^v?([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?(?:[-+].*)?$/.exec(text.trim());
  return match?.slice(1, 4).map((part) => Number(part ?? 0));
}

export function isAtLeast(version: readonly number[], least: readonly number[]): boolean {
  const at = least.findIndex((part, index) => part !== version[index]);
  return at === -1 || (version[at] ?? 0) > (least[at] ?? 0);
}
