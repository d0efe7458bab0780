// SPDX-License-Identifier: Apache-2.0

//! `paimon ls`.

use paimon::types::{Error, Result};

use crate::session::Session;

pub(super) async fn run(session: &Session, target: Option<&str>) -> Result<()> {
    let (url, database) = match (session.warehouse_url(), target) {
        (Some(url), database) => (url, database),
        (None, Some(url)) => (url, None),
        (None, None) => {
            return Err(Error::invalid(
                "give a warehouse: paimon ls WAREHOUSE, or --warehouse URL",
            ));
        }
    };
    let warehouse = session.warehouse(url);
    let catalog = warehouse.catalog();
    let databases = match database {
        Some(name) => vec![name.trim_end_matches(".db").to_owned()],
        None => catalog.list_databases().await?,
    };
    if databases.is_empty() {
        return Err(Error::not_found("there is no database here").with("path", url));
    }
    for database in databases {
        let tables = catalog.list_tables(&database).await?;
        if tables.is_empty() {
            println!("{database}.");
        }
        for table in tables {
            println!("{database}.{table}");
        }
    }
    Ok(())
}
