export type { Condition, KubernetesObject, ObjectMeta, OwnerReference } from '../meta.ts';
export * from './bundle.ts';
export * from './bundle-deployment.ts';
export * from './conditions.ts';
export * from './deployment-policies.ts';
export * from './deployment-progress.ts';
export * from './generated-bundle.ts';
export * from './labels.ts';
export * from './resources.ts';
