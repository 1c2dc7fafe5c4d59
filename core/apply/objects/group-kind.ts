import type { GroupVersionKind } from '../../platform/kube/index.ts';

/** A kind whatever version it is written in. */
export type GroupKind = Pick<GroupVersionKind, 'group' | 'kind'>;
