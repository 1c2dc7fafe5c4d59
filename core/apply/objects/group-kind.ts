import type { GroupVersionKind } from '../../kube/resource.ts';

/** A kind whatever version it is written in. */
export type GroupKind = Pick<GroupVersionKind, 'group' | 'kind'>;
