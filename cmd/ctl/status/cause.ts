import type { StatusReport } from './status-report.ts';

/** What a deployment's failure is about, as far as a cure depends on it. */
export type Failing = Pick<StatusReport, 'name' | 'deployment' | 'objects'>;

/** A failure by its text, and what to do about it; the groups of the text come along. */
export type Cause = readonly [
  text: RegExp,
  cure: (failing: Failing, groups: readonly (string | undefined)[]) => string,
];

/** The Secret that the source of the template names, for the middle of a sentence. */
export function secretOf({ deployment: { spec } }: Failing): string {
  const { image, git, http } = spec.template.spec.source;
  const { auth } = git ?? http ?? {};
  const name = image?.pullSecret ?? auth?.secret?.name;
  if (name === undefined) return 'a Secret that spec.template.spec.source names';
  return `Secret "${name}" in namespace ${spec.serviceAccount?.namespace ?? 'rukpak-system'}`;
}
