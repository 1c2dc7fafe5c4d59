export { goBuild, hasGo, type Progress } from './go-build.ts';
export { withLock } from './lock.ts';
export { userCache } from './user-cache.ts';
