import { createGitSource } from './git-source.ts';

/** For worker processes: reading packs takes more time than an event loop has. */
// oxlint-disable-next-line import/no-default-export -- what every module of a worker exports
export default createGitSource;
