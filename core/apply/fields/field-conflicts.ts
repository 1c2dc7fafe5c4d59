import { ApiError } from '../../platform/kube/index.ts';

/** One field that an apply may not change unless it is forced. */
export interface FieldConflict {
  readonly field: string;
  readonly manager: string;
}

/** What the API server answers to an apply of fields that others have; empty for other refusals. */
export function fieldConflicts(error: unknown): readonly FieldConflict[] {
  if (!(error instanceof ApiError) || error.code !== 409) return [];
  const causes = error.status.details?.causes ?? [];
  return causes
    .filter(({ reason }) => reason === 'FieldManagerConflict')
    .map(({ field = '', message = '' }) => ({
      field: field.replace(/^\./, ''),
      manager: /^conflict with "([^"]*)"/.exec(message)?.[1] ?? 'others',
    }));
}
