export type { ConsideredBundle, ConsideredGroup, Explanation } from './explanation.ts';
