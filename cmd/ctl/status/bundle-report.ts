import type { Bundle, BundleSource } from '../../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import {
  bundleCondition,
  bundleDeploymentCondition,
  bundleDeploymentReason,
} from '../../../api/v1alpha1/conditions.ts';
import { templateBundle } from './deployment-state.ts';

/** One Bundle of a deployment. */
export interface BundleReport {
  readonly name: string;
  /**
   * `active`: installed. `next` or `failed`: wanted by the template, and not installed.
   * `superseded`: all others, including rolled back ones.
   */
  readonly role: 'active' | 'next' | 'failed' | 'superseded';
  readonly class: string;
  /** Empty before the first reconcile, `Deleting` while it is being deleted. */
  readonly phase: string;
  readonly source: string;
  /** The pinned source. */
  readonly resolvedSource?: string;
  /** Why it is not unpacked, or not deleted. */
  readonly message?: string;
  readonly created: string;
}

/** The Bundles of a deployment, the active one first and superseded ones last. */
export function bundleReports(
  deployment: BundleDeployment,
  bundles: readonly Bundle[],
): readonly BundleReport[] {
  const reports = bundles.map((bundle) => bundleReport(deployment, bundle));
  return roles.flatMap((role) =>
    reports
      .filter((report) => report.role === role)
      .toSorted((a, b) => b.created.localeCompare(a.created)),
  );
}

const roles = ['active', 'next', 'failed', 'superseded'] as const;

function bundleReport(deployment: BundleDeployment, bundle: Bundle): BundleReport {
  const { metadata, spec, status } = bundle;
  const { resolvedSource } = status ?? {};
  const name = metadata.name ?? '';
  return {
    name,
    role: roleOf(name, deployment),
    class: spec.provisionerClassName,
    ...progressOf(bundle),
    source: describeSource(spec.source),
    ...(resolvedSource === undefined ? {} : { resolvedSource: describeSource(resolvedSource) }),
    created: metadata.creationTimestamp ?? '',
  };
}

function progressOf({ metadata, status }: Bundle): Pick<BundleReport, 'phase' | 'message'> {
  const { deletionTimestamp, finalizers = [] } = metadata;
  if (deletionTimestamp !== undefined) {
    const held =
      finalizers.length === 0 ? '' : `, waits for its finalizers ${finalizers.join(', ')}`;
    return { phase: 'Deleting', message: `deletion requested at ${deletionTimestamp}${held}` };
  }
  const { phase = '', conditions = [] } = status ?? {};
  const told = conditions.find(({ type }) => type === bundleCondition.unpacked) ?? conditions[0];
  if (phase === 'Unpacked' || told === undefined) return { phase };
  return { phase, message: told.message };
}

function roleOf(name: string, deployment: BundleDeployment): BundleReport['role'] {
  const { activeBundle, rollback } = deployment.status ?? {};
  if (name === activeBundle) return 'active';
  // A rolled back Bundle is not next, although the template wants it.
  if (name === rollback?.from) return 'superseded';
  if (name !== templateBundle(deployment)) return 'superseded';
  return hasFailed(deployment) ? 'failed' : 'next';
}

/** Core has tried to install it and failed: it waits for nothing else any more. */
function hasFailed({ metadata, status = {} }: BundleDeployment): boolean {
  const conditionOf = (type: string) => status.conditions?.find((each) => each.type === type);
  const { hasValidBundle, installed, progressing } = bundleDeploymentCondition;
  if (status.observedGeneration !== metadata.generation) return false;
  if (conditionOf(hasValidBundle)?.reason !== bundleDeploymentReason.unpackSuccessful) return false;
  return conditionOf(installed)?.status === 'False' && conditionOf(progressing) === undefined;
}

/** A source in a few words; contains no secret, unless somebody put a password into a URL. */
export function describeSource(source: BundleSource): string {
  const { type, image, git, http, configMaps = [], parameters } = source;
  if (image !== undefined) return `image ${image.ref}`;
  if (git !== undefined) {
    const { commit, tag, branch } = git.ref;
    const place = [git.repository, git.directory].filter(Boolean).join(' ');
    return `git ${withoutPassword(place)} ${commit ?? tag ?? branch ?? ''}`.trimEnd();
  }
  if (http !== undefined) return `http ${withoutPassword(http.url)}${checksumOf(http.checksum)}`;
  if (parameters !== undefined) return [type, ...shownParameters(parameters)].join(' ');
  const names = configMaps.map(({ configMap }) => configMap.name ?? '').join(', ');
  return names === '' ? type : `${type} ${names}`;
}

/** As `name=value`; nested values are left to `kubectl get -o yaml`. */
function shownParameters(parameters: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(parameters).flatMap(([name, value]) =>
    typeof value === 'string' ? [`${name}=${withoutPassword(value)}`] : [],
  );
}

function checksumOf(checksum: string | undefined): string {
  return checksum === undefined ? '' : ` ${checksum}`;
}

function withoutPassword(url: string): string {
  // The last "@" ends it, and the first ":" begins the password: a user may be an email address.
  return url.replace(/(?<=^[a-z][a-z0-9+.-]*:\/\/)[^/\s]*@/i, (user) =>
    user.replace(/:.*@$/, ':***@'),
  );
}
