/**
 * The function `page` returns the names of the next agents of a project, or of all projects. The function walks along the index
 * of the names. A query with the same conditions reads whole tables until the server has statistics, and sometimes afterwards.
 * With more than `ROWS 100`, the server expects so much work that it compiles the query of a page. The compilation takes longer
 * than the query.
 */
export const PAGE = `
  CREATE FUNCTION @page(p_after text, p_project text, p_limit integer) RETURNS SETOF text
  LANGUAGE plpgsql STABLE ROWS 100 SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
  SET plan_cache_mode = force_generic_plan AS $body$
  DECLARE
    v_from text COLLATE "C" := greatest(p_after COLLATE "C", p_project || '/');
    v_end text COLLATE "C" := p_project || '0';
    v_log text COLLATE "C";
    v_left integer := p_limit;
  BEGIN
    FOR v_log IN SELECT l.log FROM @logs l WHERE l.log > v_from ORDER BY l.log LOOP
      EXIT WHEN v_left <= 0 OR v_log >= v_end;
      CONTINUE WHEN right(v_log, 2) = '/*';
      CONTINUE WHEN NOT EXISTS (SELECT 1 FROM @records r WHERE r.log = v_log)
        AND NOT EXISTS (SELECT 1 FROM @conversations c WHERE c.log = v_log);
      RETURN NEXT v_log;
      v_left := v_left - 1;
    END LOOP;
  END $body$;
`;
