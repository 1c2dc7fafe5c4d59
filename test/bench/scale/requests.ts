import type { ApiRequest } from '../../helpers/audit-log.ts';

/** How often each verb was asked of each resource, most often first. */
export type RequestCounts = Readonly<Record<string, number>>;

export function countRequests(requests: readonly ApiRequest[]): RequestCounts {
  const counts = new Map<string, number>();
  for (const { verb, resource } of requests) {
    const key = `${verb} ${resource}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return Object.fromEntries([...counts].toSorted(([, a], [, b]) => b - a));
}

/** Leader election renews the lease regardless of the work. */
export function isForLease({ resource }: ApiRequest): boolean {
  return resource === 'leases';
}

/** Reviews of clients that read /metrics: the benchmark causes these requests. */
export function isForLooking({ resource }: ApiRequest): boolean {
  return resource === 'tokenreviews' || resource === 'subjectaccessreviews';
}

/** A watch waits for news; opening one is the API server's doing too, as it ends them after minutes. */
export function isForWork(request: ApiRequest): boolean {
  return !isForLease(request) && !isForLooking(request) && request.verb !== 'watch';
}
